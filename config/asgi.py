"""HTTP and websocket entry; joins each app's routing."""

from __future__ import annotations

import os
import warnings

import django
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# WhiteNoise's files are iterated synchronously, so Django reads each whole before it sends it: they are small.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

# Before handler and consumers are imported: they import models.
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402 - see above
from django.urls import reverse  # noqa: E402 - see above

from annotation.routing import websocket_urlpatterns  # noqa: E402 - see above
from config.bodies import BodyLimit  # noqa: E402 - see above
from config.pages import PageHandler  # noqa: E402 - see above
from config.readiness import get_ready  # noqa: E402 - see above

get_ready()

application = ProtocolTypeRouter(
    {
        # A file that is somewhat too long still gets its page, which says so.
        "http": BodyLimit(PageHandler(), longer={reverse("imports"): 2 * settings.IMPORT_MAX_BYTES}),
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
