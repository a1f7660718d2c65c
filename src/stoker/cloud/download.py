"""Texts from URLs that a template names."""

from __future__ import annotations

from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout

from stoker.base.errors import BadValue, RequestLimitExceeded

_SCHEMES = ("http", "https")
_TIMEOUT = ClientTimeout(total=60.0)


async def fetch_text(url: str, limit: int) -> str:
    """The text at an http or https URL, `limit` bytes at most.

    Raises BadValue when the URL does not lead to a text in UTF-8, RequestLimitExceeded when it is larger.
    """
    if urlsplit(url).scheme not in _SCHEMES:
        raise BadValue(f"{url!r} is no http or https URL.")
    try:
        # The environment's proxy settings apply, as they do to all that the engine fetches for its users.
        async with ClientSession(timeout=_TIMEOUT, trust_env=True) as session, session.get(url) as response:
            response.raise_for_status()
            content = await response.content.read(limit + 1)
            while len(content) <= limit and (more := await response.content.read(limit + 1 - len(content))):
                content += more
    except (TimeoutError, ClientError, ValueError) as error:
        raise BadValue(f"The template at {url} cannot be fetched: {error or type(error).__name__}.") from error
    if len(content) > limit:
        raise RequestLimitExceeded(f"The template at {url} is larger than {limit} bytes (max_template_size).")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadValue(f"The template at {url} is not UTF-8: byte {error.start} is invalid.") from error
