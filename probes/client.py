"""A small HTTP client of an OpAtlas server: back-off, a time limit, errors that say what to do."""

from __future__ import annotations

import http.client
import io
import ipaddress
import json
import random
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import IO, Any

BUSY = frozenset({429, 502, 503, 504})  # the same request may be answered a moment later
REDIRECTS = frozenset({301, 302, 303, 307, 308})
LOOPBACK = frozenset({"localhost"})  # by name; addresses say it themselves
LONGEST_WAIT = 60.0  # seconds between two tries, whatever Retry-After says
LARGEST_ANSWER = 256 << 20
STEP = 1 << 16

MakeBody = Callable[[], IO[bytes]]


def is_loopback(host: str | None) -> bool:
    """Whether what is sent to this host stays on this machine."""
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def travels_openly(server: str) -> bool:
    """Whether others on the way can read what is sent to this address: http, to elsewhere."""
    parts = urllib.parse.urlsplit(server)
    return parts.scheme == "http" and not is_loopback(parts.hostname)


class ClientError(Exception):
    """No usable answer; the message is a sentence that says what to do."""


class BadAddress(ClientError):
    """The server's address is no http or https address, or it sends callers elsewhere."""


class Unreachable(ClientError):
    """Nobody answers at the server's address, or only "busy", after the last try."""


class TimeIsUp(ClientError):
    """The time limit of the client passed before an answer came."""


class BadAnswer(ClientError):
    """What answers is not an OpAtlas server, or its answer is cut short."""


class Refused(ClientError):
    """The server understood and said no: `status`, `code` and the whole problem document."""

    def __init__(self, status: int, code: str, detail: str, problem: Mapping[str, Any]) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.problem = dict(problem)


@dataclass(frozen=True)
class Answer:
    """A complete answer of 2xx or 304; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body's document; BadAnswer when it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise BadAnswer(
                "The server's answer is no JSON: is the address that of an OpAtlas server?"
            ) from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another address: it is reported, never followed."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


@dataclass
class Client:
    """Requests to one server, each tried again with back-off while the server is busy or away.

    `timeout` seconds for one try, `limit` seconds for one request with all its tries (None: as
    long as the tries take), `tries` how often. Every POST of the API may be repeated safely.
    """

    server: str
    token: str = ""
    timeout: float = 30.0
    limit: float | None = None
    tries: int = 5
    first_wait: float = 0.5
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _open: Callable[..., Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.server)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadAddress(f'"{self.server}" is no address: give http://HOST or https://HOST.')
        self.server = self.server.rstrip("/")
        handlers: list[Any] = [_NoRedirect()]
        if is_loopback(parts.hostname):
            handlers.append(urllib.request.ProxyHandler({}))
        self._open = urllib.request.build_opener(*handlers).open

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """GET /api/v1/<path>."""
        return self.send("GET", path, headers=headers)

    def post_json(self, path: str, document: Any) -> Answer:
        """POST a JSON document to /api/v1/<path>."""
        body = json.dumps(document, allow_nan=False).encode()
        return self.post(path, body, "application/json")

    def post(self, path: str, body: bytes, content_type: str) -> Answer:
        """POST bytes to /api/v1/<path>."""
        headers = {"Content-Type": content_type, "Content-Length": str(len(body))}
        return self.send("POST", path, lambda: io.BytesIO(body), headers)

    def send(
        self,
        method: str,
        path: str,
        make_body: MakeBody | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Any request; `make_body` opens the body anew for each try and `headers` has its length.

        Raises Refused for 4xx, and another ClientError where there is no answer.
        """
        end = None if self.limit is None else self.clock() + self.limit
        url = f"{self.server}/api/v1/{path.lstrip('/')}"
        for attempt in range(self.tries):
            try:
                return self._try(method, url, make_body, dict(headers or {}), end)
            except _Busy as busy:
                if attempt + 1 == self.tries:
                    raise Unreachable(busy.sentence(self.server, self.tries)) from busy.cause
                self._wait(self._seconds(attempt, busy.retry_after), end)
        raise AssertionError("tries must be at least 1")

    def _seconds(self, attempt: int, asked: float | None) -> float:
        """Doubling waits with some chance in them, or what the server asks for."""
        if asked is not None:
            return min(asked, LONGEST_WAIT)
        longest = min(self.first_wait * 2.0**attempt, LONGEST_WAIT)
        return longest * random.uniform(0.5, 1.0)  # nosec B311 - spreads tries, no secret

    def _wait(self, seconds: float, end: float | None) -> None:
        if end is not None and self.clock() + seconds >= end:
            raise self._late()
        self.sleep(seconds)

    def _late(self) -> TimeIsUp:
        return TimeIsUp(
            f"{self.server} gave no answer within {self.limit:g} seconds. "
            "Try again later or with a larger --timeout."
        )

    def _try(
        self,
        method: str,
        url: str,
        make_body: MakeBody | None,
        headers: dict[str, str],
        end: float | None,
    ) -> Answer:
        left = self.timeout if end is None else min(self.timeout, end - self.clock())
        if left <= 0:
            raise self._late()
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        headers = {"Accept": "application/json", "User-Agent": "opatlas-probes", **headers}
        body = make_body() if make_body else None
        request = urllib.request.Request(url, data=body, headers=headers, method=method)
        try:
            with self._open(request, timeout=left) as response:
                return _answer(response, self._read(response, end))
        except urllib.error.HTTPError as error:
            with error:
                return self._not_ok(error, end)
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(error) from error
        finally:
            if body is not None:
                body.close()

    def _read(self, response: Any, end: float | None) -> bytes:
        """The whole body; what drips in is read as it comes, so that the limit is kept."""
        parts: list[bytes] = []
        size = 0
        told = response.headers.get("Content-Length") or ""
        length = int(told) if told.isdigit() else None
        while size != length and (part := response.read1(STEP)):
            size += len(part)
            if size > LARGEST_ANSWER:
                raise BadAnswer(f"{self.server} sends more than {LARGEST_ANSWER >> 20} MiB.")
            if end is not None and self.clock() > end:
                raise self._late()
            parts.append(part)
        if length is not None and size < length:
            raise http.client.IncompleteRead(b"", length - size)
        return b"".join(parts)

    def _not_ok(self, error: urllib.error.HTTPError, end: float | None) -> Answer:
        status = error.code
        if status == 304:
            return _answer(error, b"")
        if status in REDIRECTS:
            to = error.headers.get("Location", "another address")
            raise BadAddress(f"{self.server} sends callers to {to}: give that address instead.")
        if status in BUSY:
            raise _Busy(f"answers {status}", _retry_after(error.headers.get("Retry-After")))
        try:
            problem = _problem(self._read(error, end))
        except (OSError, http.client.HTTPException):
            problem = {}  # cut short; the status alone says no
        detail = str(
            problem.get("detail")
            or f"{self.server} answers {status} {error.reason}: is it an OpAtlas server?"
        )
        raise Refused(status, str(problem.get("code") or f"http_{status}"), detail, problem)

    def _broken(self, error: Exception) -> Exception:
        """A certificate is no passing trouble; everything else about a connection may be."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            return BadAddress(
                f"The certificate of {self.server} is not trusted ({reason.verify_message}). "
                "Set SSL_CERT_FILE to the certificate of its authority."
            )
        return _Busy(f"cannot be reached ({reason or type(error).__name__})", cause=error)


class _Busy(Exception):
    """One try that failed in a way that may pass."""

    def __init__(
        self, what: str, retry_after: float | None = None, cause: Exception | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.retry_after = retry_after
        self.cause = cause

    def sentence(self, server: str, tries: int) -> str:
        return (
            f"{server} {self.what}, tried {tries} times. "
            "Check the address, that the server runs, and the network between."
        )


def _answer(response: Any, body: bytes) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(int(response.status), headers, body)


def _problem(body: bytes) -> dict[str, Any]:
    """The problem document of a refusal; empty for a page of something that is no OpAtlas."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _retry_after(value: str | None) -> float | None:
    """Seconds, from a number of seconds or a date."""
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
