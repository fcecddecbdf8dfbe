"""Settings of the tests: those of the product, on a database of their own and without a broker."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# Before config.settings is read: nothing of a test may reach the data directory of a running site.
_ROOM = tempfile.TemporaryDirectory(prefix="benchwright-test-", ignore_cleanup_errors=True)
os.environ["BENCHWRIGHT_DATA"] = _ROOM.name
os.environ.setdefault("SECRET_KEY", "of no use outside the tests")

from config.settings import *  # noqa: E402, F403 - the product's own settings are the point
from config.settings import DATABASES, STATIC_ROOT, STORAGES  # noqa: E402

# A file, not SQLite's shared memory: threads and child processes of a test see the same database and the same locks.
if DATABASES["default"]["ENGINE"] == "config.sqlite":
    DATABASES["default"]["TEST"] = {"NAME": str(Path(_ROOM.name) / "test.sqlite3")}

STATIC_ROOT.mkdir()
CELERY_BROKER_URL = "memory://"
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher"
]  # fast; no real password is ever stored here
ACCOUNT_RATE_LIMITS = False
