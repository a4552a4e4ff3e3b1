"""All addresses: the API under /api/v1/, the pages at the root."""

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("compat.api.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include("webui.urls")),
]
