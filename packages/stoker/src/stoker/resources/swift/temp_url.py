"""Temporary URLs of Swift: signed URLs to single objects, which need no token."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlencode, urlsplit
from uuid import uuid4

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud


_KEY_HEADER = "X-Account-Meta-Temp-Url-Key"
_EXPIRES = 2**31 - 1 - 60
"""The latest expiration time that every Swift accepts, less a minute."""


def object_path(container: str, name: str) -> str:
    """Return the path of an object below the account's URL."""
    return f"/{quote(container, safe='')}/{quote(name)}"


async def temp_url(cloud: Cloud, method: str, path: str) -> str:
    """Return a URL for one method on an object, with the latest possible expiration time.

    path: as `object_path` returns it. Swift computes the signature of the decoded path.
    """
    endpoint = cloud.endpoint("swift")
    place = unquote(urlsplit(endpoint).path + path)
    signed = place[place.index("/v1/") :] if "/v1/" in place else place  # a proxy's prefix is not signed
    message = f"{method}\n{_EXPIRES}\n{signed}"
    signature = hmac.new((await _key(cloud)).encode(), message.encode(), sha256).hexdigest()
    return f"{endpoint}{path}?{urlencode({'temp_url_sig': signature, 'temp_url_expires': _EXPIRES})}"


async def _key(cloud: Cloud) -> str:
    """Return the account's secret for such URLs; set one when the account has none."""
    answer = await cloud.request("HEAD", "swift", "")
    known = answer.headers.get(_KEY_HEADER)
    if known:
        return str(known)
    await cloud.post("swift", "", headers={_KEY_HEADER: uuid4().hex})
    answer = await cloud.request("HEAD", "swift", "")  # another process may have set one at the same time
    return str(answer.headers[_KEY_HEADER])


async def put_object(cloud: Cloud, path: str, content: object) -> None:
    """Store JSON (None: no content) as an object; create its container if it does not exist."""
    container = "/" + path.split("/")[1]
    await cloud.put("swift", container)
    options: dict[str, object] = {"data": b""} if content is None else {"json": content}
    await cloud.put("swift", path, **options)


async def delete_object(cloud: Cloud, path: str) -> None:
    """Delete an object with its older versions, and its container if it is empty then."""
    while (await cloud.request("DELETE", "swift", path, ok=(404,))).status != 404:
        pass  # with versioning, the previous version becomes current
    await cloud.delete("swift", "/" + path.split("/")[1], ok=(404, 409))
