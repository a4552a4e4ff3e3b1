"""Whether a request comes from the machine that the site runs on, at a site for that one alone."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
# What a proxy adds: behind one, everybody seems to come from this machine.
PASSED_ON = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
)


def is_from_here(request: HttpRequest) -> bool:
    """No for a production site, one with other names than loopback, and what a proxy passes on."""
    if settings.PRODUCTION or not LOOPBACK_HOSTS.issuperset(settings.ALLOWED_HOSTS):
        return False
    if any(name in request.META for name in PASSED_ON):
        return False
    return _is_loopback(request.META.get("REMOTE_ADDR", ""))


def _is_loopback(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # a Unix socket has no address, and a proxy behind it
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback
