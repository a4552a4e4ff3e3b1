"""The one settings file: everything that differs between installations is an environment variable.

Without any variable this is the embedded default: SQLite under `var/`, one local worker, loopback.
"""

import math
import os
import re
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("OPATLAS_DATA_DIR", BASE_DIR / "var"))
PRODUCTION = os.environ.get("OPATLAS_PRODUCTION") == "1"


def _secret_key() -> str:
    """The key from the environment; the embedded default keeps its own in the data folder."""
    if key := os.environ.get("OPATLAS_SECRET_KEY"):
        return key
    if PRODUCTION:
        raise ImproperlyConfigured("Set OPATLAS_SECRET_KEY to 50 or more random characters.")
    path = DATA_DIR / "secret.key"
    try:
        if not path.exists():
            DATA_DIR.mkdir(parents=True, exist_ok=True)
            _write_key(path)
        return path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder cannot be used (OPATLAS_DATA_DIR): {error}."
        ) from error


def _write_key(path: Path) -> None:
    """A new key, whole or not at all: of two processes at once the first one's stands."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(50))
    try:
        os.link(new, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def _list(name: str, default: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def _number(name: str, default: str, least: float = 0) -> float:
    text = os.environ.get(name, default)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        raise ImproperlyConfigured(f"{name} is {text}: set it to a number, {least:g} or more.")
    return value


def _megabytes(name: str, default: str) -> int:
    return int(_number(name, default) * 1_000_000)


def _rates(text: str) -> dict[str, str]:
    """Scope -> "<number>/<second, min, hour or day>"."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    form = re.compile(r"[a-z]+=\d+/(second|min|hour|day)")
    if wrong := [part for part in parts if not form.fullmatch(part)]:
        raise ImproperlyConfigured(f"OPATLAS_RATES: write {wrong[0]} like read=1200/min.")
    return dict(part.split("=") for part in parts)


SECRET_KEY = _secret_key()
DEBUG = os.environ.get("OPATLAS_DEBUG") == "1"
ALLOWED_HOSTS = _list("OPATLAS_ALLOWED_HOSTS", "" if PRODUCTION else "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = _list("OPATLAS_TRUSTED_ORIGINS", "")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "compat",
    "webui",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "compat.api.edges.Readable",
    "compat.api.throttles.RateHeaders",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "compat.api.edges.BodyLimit",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "webui.security.ContentSecurityPolicyMiddleware",
]

ROOT_URLCONF = "compat.urls"
WSGI_APPLICATION = "compat.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]


def _database() -> Any:
    """The one that DATABASE_URL names; without it a file, whose path is no URL."""
    if not (url := os.environ.get("DATABASE_URL")):
        path = str(DATA_DIR / "opatlas.sqlite3")
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": path, "CONN_MAX_AGE": 60}
    try:
        return dj_database_url.parse(url, conn_max_age=60)
    except ValueError as error:  # its words would show the password
        raise ImproperlyConfigured(
            "DATABASE_URL is no address of a database: postgres://user:password@host:5432/name."
        ) from error


DATABASES = {"default": _database()}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = os.environ.get("REDIS_URL", "")
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "opatlas"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True

CASE_DIR = DATA_DIR / "cases"
UPLOAD_DIR = DATA_DIR / "uploads"
FIXTURES_DIR = BASE_DIR / "fixtures"
UPLOAD_LIMIT_BYTES = _megabytes("OPATLAS_UPLOAD_LIMIT_MB", "2048")
UPLOAD_QUOTA_BYTES = _megabytes("OPATLAS_UPLOAD_QUOTA_MB", "8192")
FACTS_LIMIT_BYTES = _megabytes("OPATLAS_FACTS_LIMIT_MB", "16")
# Whether anybody who reaches the API may start a sweep: yes on one's own machine.
OPEN_SWEEPS = os.environ.get("OPATLAS_OPEN_SWEEPS", "0" if PRODUCTION else "1") == "1"
# Whether whoever reaches the pages may register devices: "1", "0", or empty for nobody but the
# machine that the site runs on and is for alone. A device's token writes evidence.
OPEN_DEVICES = os.environ.get("OPATLAS_OPEN_DEVICES", "")
# Agents: how long a claim stands without a renewal, how often an idle one asks, and the Redis
# server that wakes it, as devices reach it; each has a user of its own there.
AGENT_LEASE_S = _number("OPATLAS_AGENT_LEASE_S", "300", least=1)
AGENT_POLL_S = _number("OPATLAS_AGENT_POLL_S", "10", least=0.1)
AGENT_REDIS_URL = os.environ.get("OPATLAS_AGENT_REDIS_URL", "")
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "webui" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
WHITENOISE_USE_FINDERS = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}

# Scopes of the API that need no token; "results" and "admin" always need one.
OPEN_SCOPES = frozenset(_list("OPATLAS_OPEN_SCOPES", "read,reports")) & {"read", "reports"}

# How often a token, or an address without one, may ask, by scope; counted in each web process.
RATES = "read=1200/min,reports=120/min,results=6000/min,admin=300/min"
API_RATES = _rates(os.environ.get("OPATLAS_RATES", RATES if PRODUCTION else ""))
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    }
}

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "compat.api.parsers.BoundedJson",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_AUTHENTICATION_CLASSES": ["compat.api.access.BearerToken"],
    "DEFAULT_PERMISSION_CLASSES": ["compat.api.access.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["compat.api.throttles.ScopeRate"],
    "NUM_PROXIES": int(_number("OPATLAS_PROXIES", "1" if PRODUCTION else "0")),
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "compat.api.problems.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "OpAtlas API",
    "DESCRIPTION": "Operator support by device and runtime, with the evidence behind each cell.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "compat.api.describe.declare_problems",
    ],
}

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_HTTPONLY = True
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PRODUCTION else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "filters": {"plain_lines": {"()": "compat.logs.PlainLines"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "plain",
            "filters": ["plain_lines"],
        }
    },
    "root": {"handlers": ["console"], "level": os.environ.get("OPATLAS_LOG_LEVEL", "INFO")},
}
