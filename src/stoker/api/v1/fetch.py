"""Texts that a request names by URL (`template_url`)."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from stoker.api.faults import BadRequest
from stoker.base.errors import RequestLimitExceeded

_SCHEMES = ("http", "https")

_OPENER = urllib.request.OpenerDirector()
for _handler in (
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPRedirectHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPErrorProcessor,
):  # no handler of files or of FTP, so that no redirect leads to one either
    _OPENER.add_handler(_handler())


def fetch_text(url: str, limit: int, timeout: float) -> str:
    """The text at an http or https URL.

    `limit` is in bytes; `timeout` is how many seconds the server may stay silent. Raises BadRequest when the URL does
    not lead to a text in UTF-8, RequestLimitExceeded when it is larger.
    """
    if urlsplit(url).scheme not in _SCHEMES:
        raise BadRequest(f"template_url must be an http or https URL; it is {url!r}.")
    try:
        with _OPENER.open(url, timeout=timeout) as response:
            content: bytes = response.read(limit + 1)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        raise BadRequest(f"The template at {url} cannot be fetched: {error}.") from None
    if len(content) > limit:
        raise RequestLimitExceeded(
            f"The template at {url} is larger than {limit} bytes, which max_template_size allows."
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(f"The template at {url} is not UTF-8: byte {error.start} is invalid.") from None
