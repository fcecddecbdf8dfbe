"""Which websocket goes to which consumer."""

from __future__ import annotations

from django.urls import path

from annotation.consumers import AttemptConsumer

websocket_urlpatterns = [path("ws/attempts/<int:pk>/", AttemptConsumer.as_asgi())]
