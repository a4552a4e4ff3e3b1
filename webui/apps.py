"""The pages as a Django app."""

from django.apps import AppConfig


class WebuiConfig(AppConfig):
    name = "webui"
    verbose_name = "OpAtlas pages"
