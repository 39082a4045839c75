"""What a server's answer means: a document, another address, not now, or no."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

import httpx

from penstock.model.errors import Refused, Unavailable

RETRY_AFTER_MAX = 86_400.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_DOCUMENTS = frozenset({200, 203})
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})


def redirect_of(response: httpx.Response, url: httpx.URL) -> str | None:
    """Where the server sends us; None if it does not. Never from https back to http."""
    if response.status_code not in _REDIRECTS:
        return None
    place = response.headers.get("location", "")
    if not place:
        raise Refused(f"{url.host} redirects without saying where to", code="ERR_FETCH_REFUSED")
    try:
        onward = url.join(place)
    except (httpx.InvalidURL, UnicodeError, ValueError) as error:
        raise Refused(f"{url.host} redirects to what is no URL", code="ERR_URL_INVALID") from error
    if url.scheme == "https" and onward.scheme == "http":
        raise Refused(f"{url.host} redirects from https to http", code="ERR_URL_FORBIDDEN")
    return str(onward)


def check_status(response: httpx.Response, shown: str) -> None:
    """Raise unless a document follows."""
    status = response.status_code
    if status in _DOCUMENTS:
        return
    if status in _LATER:
        raise Unavailable(
            f"{shown} answers {status}", code="ERR_FETCH_FAILED", retry_after=retry_after(response.headers)
        )
    raise Refused(f"{shown} answers {status}", code="ERR_FETCH_REFUSED")


def retry_after(headers: httpx.Headers) -> float | None:
    """The seconds a server asks us to wait, as a number or as a date; at most a day."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:10]), RETRY_AFTER_MAX)
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), RETRY_AFTER_MAX)
