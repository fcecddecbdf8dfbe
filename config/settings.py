"""Every setting, read and checked from the environment in this one file; docs/operators.md lists them."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()

# Where everything that outlives a restart is kept: embedded database, socket, secret key, built assets.
DATA_DIR = Path(env.str("BENCHWRIGHT_DATA", default=str(BASE_DIR / "var"))).resolve()

DEBUG = env.bool("DEBUG", default=False)


def _secret_key() -> str:
    """Return SECRET_KEY, or one made once and kept in the data directory (a new one each start signs all out)."""
    given: str = env.str("SECRET_KEY", default="")
    if given:
        return given
    kept = DATA_DIR / "secret_key"
    if not kept.exists():
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        kept.touch(mode=0o600)
        kept.write_text(secrets.token_urlsafe(50))
    return kept.read_text()


SECRET_KEY = _secret_key()

# Host names the site answers to, and where it is reached; https turns on the production settings below.
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
SITE_URL = env.str("SITE_URL", default="http://127.0.0.1:8000").rstrip("/")
SECURE = SITE_URL.startswith("https://")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "channels",
    "rest_framework",
    "knox",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "drf_standardized_errors",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "csp",
    "runner",
    "examples",
    "annotation",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.private.PrivateMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "annotation.first_password.FirstPasswordMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "csp.middleware.CSPMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "django.templatetags.static",
                "django_htmx.templatetags.django_htmx",
                "config.templatetags.parts",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "runner.workers.engine_banner",
            ],
        },
    },
]

# Database. SQLite writes in IMMEDIATE mode, and writers take turns, instead of failing; Postgres through a pool.
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'benchwright.sqlite3'}"),
}
# What Postgres is used with. Statements are planned once for each connection, not each time: a third more requests a second.
POSTGRES: dict[str, Any] = {
    "CONN_MAX_AGE": 0,
    "CONN_HEALTH_CHECKS": True,
    "OPTIONS": {
        "pool": {"min_size": 1, "max_size": 16, "timeout": 20},
        "server_side_binding": True,
        "prepare_threshold": 3,
    },
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["ENGINE"] = "config.sqlite"
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-20000;",
    }
else:
    # Besides, what the address asks for, such as sslmode.
    POSTGRES["OPTIONS"] |= DATABASES["default"].get("OPTIONS", {})
    DATABASES["default"] |= POSTGRES
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis protocol: broker, channel layer and cache; embedded on a socket unless REDIS_URL points elsewhere.
REDIS_SOCKET = DATA_DIR / "redis.sock"
REDIS_URL = env.str("REDIS_URL", default=f"unix://{REDIS_SOCKET}")
# The layer's consumers wait 5 s at a time, and redis-py 8 gives up after 5 s unless told otherwise: quiet sockets would die.
CHANNEL_HOST = {"address": REDIS_URL, "socket_timeout": 30, "socket_connect_timeout": 5}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [CHANNEL_HOST], "prefix": "benchwright"},
    },
}
CACHES = {
    "default": {
        "BACKEND": "config.cache.SteadyCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 2},
    }
}

# Celery: a message carries ids and is only a wake-up; limits are ours, since the thread pool ignores Celery's.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_DEFAULT_QUEUE = "interactive"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "max_retries": 0,  # a request waits for no broker; workers connect again by a rule of their own
    "visibility_timeout": 3600,
    "socket_timeout": 30,
    "socket_connect_timeout": 5,
}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# People. Registration is by invitation only; an admin resets passwords, so no e-mail is needed.
AUTH_USER_MODEL = "annotation.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "annotation.accounts.InvitationOnlyAdapter"
ACCOUNT_RATE_LIMITS = {"login": "60/m/ip", "login_failed": "10/m/ip,5/5m/key", "signup": "10/h/ip"}
# Whether people may ask for an account by themselves; a curator has to approve each.
SIGN_UP = env.bool("BENCHWRIGHT_SIGN_UP", default=False)
ACCOUNT_LOGOUT_ON_GET = False
# A code of the half minute before or after counts too: clocks differ, and people type slowly.
MFA_TOTP_TOLERANCE = 1
ACCOUNT_SESSION_REMEMBER = True
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
SESSION_SAVE_EVERY_REQUEST = False
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"

# Pages reach nothing but ourselves; no inline script or style.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "connect-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
CSRF_TRUSTED_ORIGINS = [SITE_URL]
if SECURE:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

DATA_UPLOAD_MAX_MEMORY_SIZE = 4 << 20
IMPORT_MAX_BYTES = env.int("IMPORT_MAX_BYTES", default=512 << 20)

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
MEDIA_ROOT = DATA_DIR / "files"
WHITENOISE_MANIFEST_STRICT = False
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# Source maps are megabytes that only a developer's tools ask for: compressing them would double a first start.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = ["map", "png", "gif", "woff", "woff2", "gz", "br"]

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.tokens.ScopedToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_standardized_errors.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.NamespaceVersioning",
    "DEFAULT_VERSION": "v1",
    "ALLOWED_VERSIONS": ["v1"],
    "EXCEPTION_HANDLER": "drf_standardized_errors.handler.exception_handler",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": "600/min"},
}
REST_KNOX = {"TOKEN_TTL": None, "TOKEN_MODEL": "annotation.ApiToken", "AUTH_HEADER_PREFIX": "Token"}
KNOX_TOKEN_MODEL = "annotation.ApiToken"  # noqa: S105 - a model's name
SPECTACULAR_SETTINGS = {
    "TITLE": "Benchwright",
    "DESCRIPTION": "Verified examples, studies and frozen releases of execution-based code benchmarks.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "defaultModelsExpandDepth": -1, "filter": True},
    "SCHEMA_PATH_PREFIX": "/api/v[0-9]",
    "POSTPROCESSING_HOOKS": ["drf_standardized_errors.openapi_hooks.postprocess_schema_enums"],
    "ENUM_NAME_OVERRIDES": {
        name: f"drf_standardized_errors.openapi_serializers.{name}.choices"
        for name in (
            "ValidationErrorEnum",
            "ClientErrorEnum",
            "ServerErrorEnum",
            *(f"ErrorCode{status}Enum" for status in (401, 403, 404, 405, 406, 415, 429, 500)),
        )
    },
}

# Python computes on one core for each process; more than four would rather wait for the database than for each other.
WEB_PROCESSES = env.int("WEB_PROCESSES", default=min(4, os.cpu_count() or 1))
if WEB_PROCESSES < 1:
    raise ImproperlyConfigured(
        "WEB_PROCESSES must be 1 or more: it is the number of processes that serve pages."
    )

# The runner. DOCKER_HOST is read by workers only; the web process never reaches the engine.
DOCKER_HOST = env.str("DOCKER_HOST", default="unix:///var/run/docker.sock")
RUNNER_DOCKER_RUNTIME = env.str("RUNNER_DOCKER_RUNTIME", default="")
RUNNER_POOL_SIZE = env.int("RUNNER_POOL_SIZE", default=4)
RUNNER_INTERACTIVE_THREADS = env.int("RUNNER_INTERACTIVE_THREADS", default=4)
RUNNER_BULK_THREADS = env.int("RUNNER_BULK_THREADS", default=os.cpu_count() or 1)
RUNNER_BULK_MODE = env.str("RUNNER_BULK_MODE", default="auto")
RUNNER_ENGINE_TIMEOUT_SECONDS = env.int("RUNNER_ENGINE_TIMEOUT_SECONDS", default=30)
RUNNER_LEASE_SECONDS = env.int("RUNNER_LEASE_SECONDS", default=60)
RUNNER_RECONCILE_SECONDS = env.int("RUNNER_RECONCILE_SECONDS", default=5)
RUNNER_MAX_TRIES = 3
RUNNER_CA_FILE = env.str("RUNNER_CA_FILE", default="")
if RUNNER_BULK_MODE not in ("auto", "zygote", "zygote-userns", "single"):
    raise ImproperlyConfigured("RUNNER_BULK_MODE must be auto, zygote, zygote-userns or single.")
if RUNNER_POOL_SIZE < 1:
    raise ImproperlyConfigured("RUNNER_POOL_SIZE must be 1 or more: it is the number of warm containers.")

# Language models, for workers only: any OpenAI-compatible endpoint. The key is kept in no row and shown by no page.
LLM_BASE_URL = env.str("BENCHWRIGHT_LLM_URL", default="").rstrip("/")
LLM_KEY = env.str("BENCHWRIGHT_LLM_KEY", default="")
LLM_MODEL = env.str("BENCHWRIGHT_LLM_MODEL", default="")
LLM_CONCURRENCY = env.int("BENCHWRIGHT_LLM_CONCURRENCY", default=4)
LLM_TIMEOUT_SECONDS = env.float("BENCHWRIGHT_LLM_TIMEOUT_SECONDS", default=300.0)
LLM_TRIES = env.int("BENCHWRIGHT_LLM_TRIES", default=5)
LLM_BACKOFF_SECONDS = env.float("BENCHWRIGHT_LLM_BACKOFF_SECONDS", default=1.0)
if LLM_BASE_URL and (not LLM_BASE_URL.startswith(("http://", "https://")) or "@" in LLM_BASE_URL):
    raise ImproperlyConfigured(
        "BENCHWRIGHT_LLM_URL must begin with https:// or http:// and hold no key: that is BENCHWRIGHT_LLM_KEY."
    )
if min(LLM_CONCURRENCY, LLM_TRIES) < 1 or LLM_TIMEOUT_SECONDS <= 0:
    raise ImproperlyConfigured(
        "BENCHWRIGHT_LLM_CONCURRENCY and BENCHWRIGHT_LLM_TRIES must be 1 or more, the timeout above 0."
    )

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "filters": {"without_links": {"()": "config.logs.WithoutLinks"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["without_links"]}
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
}
