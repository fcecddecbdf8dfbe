"""Settings of a site that a browser test looks at: the product's own, with the tests' accounts and without collected files."""

from __future__ import annotations

from config.settings import *  # noqa: F403 - the product's own settings are the point
from config.settings import STORAGES

# The hasher of tests.settings, so that accounts made by a test can sign in; no real password is ever stored here.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ACCOUNT_RATE_LIMITS = False
SIGN_UP = True  # off by default; here, so that its page is looked at
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
