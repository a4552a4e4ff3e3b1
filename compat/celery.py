"""The Celery application: server work over Redis when REDIS_URL is set."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "compat.settings")
app = Celery("opatlas")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["compat"])
