"""The knowledge base as a Django app."""

from django.apps import AppConfig


class CompatConfig(AppConfig):
    name = "compat"
    verbose_name = "OpAtlas knowledge base"
