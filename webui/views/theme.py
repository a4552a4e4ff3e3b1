"""The choice of light, dark or the system's colours, kept in a cookie: no script needed."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

THEMES = ("auto", "light", "dark")
ONE_YEAR_S = 365 * 24 * 3600


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Sets the cookie and goes back to a page of this site."""
    target = request.POST.get("next", "/")
    ours = target.startswith("/") and url_has_allowed_host_and_scheme(target, None)
    response = HttpResponseRedirect(target if ours else reverse("webui:matrix"))
    theme = request.POST.get("theme", "auto")
    if theme in THEMES:
        response.set_cookie(
            "theme", theme, max_age=ONE_YEAR_S, samesite="Lax", httponly=True,
            secure=request.is_secure(),
        )  # fmt: skip
    return response
