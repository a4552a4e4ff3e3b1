"""How often an address may upload on the pages: the rate and the count of the API's reports."""

import math

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle


class _Uploads(SimpleRateThrottle):
    """DRF's sliding window, under the key that the API counts an address by."""

    scope = "reports"

    def __init__(self, rate: str) -> None:
        self.rate = rate
        self.num_requests, self.duration = self.parse_rate(rate)

    def get_cache_key(self, request: Request, view: object) -> str:
        return f"rate {self.scope} {self.get_ident(request)}".replace(" ", ":")


def upload_wait_s(request: HttpRequest) -> int:
    """Seconds until this address may upload again; 0 if it may now, and then it is counted."""
    rate = settings.API_RATES.get(_Uploads.scope)
    if rate is None:
        return 0
    uploads = _Uploads(rate)
    allowed = uploads.allow_request(Request(request), view=None)  # type: ignore[arg-type]
    return 0 if allowed else math.ceil(uploads.wait() or 1)
