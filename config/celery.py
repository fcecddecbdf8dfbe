"""The Celery app, its queues and routes."""

from __future__ import annotations

import os

from celery import Celery
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("benchwright")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_queues = [Queue("interactive"), Queue("bulk"), Queue("generation")]
app.autodiscover_tasks()
