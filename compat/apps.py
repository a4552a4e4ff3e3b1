"""The knowledge base as a Django app."""

from django.apps import AppConfig


class CompatConfig(AppConfig):
    name = "compat"
    verbose_name = "OpAtlas knowledge base"

    def ready(self) -> None:
        from compat import checks  # noqa: F401 - registers the system checks
