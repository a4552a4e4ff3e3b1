"""All addresses: the API under /api/v1/, the pages at the root."""

from django.urls import include, path, re_path

from compat.api.edges import NoSuchAddress

handler400 = "compat.api.edges.bad_request"
handler500 = "compat.api.edges.server_error"

urlpatterns = [
    path("api/v1/", include("compat.api.urls")),
    re_path(r"^api/", NoSuchAddress.as_view()),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include("webui.urls")),
]
