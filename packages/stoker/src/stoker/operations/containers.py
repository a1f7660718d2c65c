"""Files of a template that are stored in a container of the object store (`files_container`)."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, CloudError, DownloadLimitExceeded, NotFound
from stoker.cloud.session import Cloud
from stoker.contract.catalog import GetContainerFiles
from stoker.engine.records.services import EngineServices


async def container_files(
    services: EngineServices, context: RequestContext, request: GetContainerFiles
) -> dict[str, str]:
    """Return the objects of a container as strings, by name, read with the caller's credentials.

    Raises DownloadLimitExceeded if they are larger than `limit` bytes in total, NotFound if the container cannot be
    read, CloudError if the object store cannot answer now, BadValue if an object is not UTF-8.
    """
    if not request.container or "/" in request.container:
        raise BadValue(f"files_container must be the name of a container; it is {request.container!r}.")
    try:
        cloud = await services.credentials.of_caller(context)
        listed = await _objects(cloud, request.container)
        total = sum(item["bytes"] for item in listed)
        if total > request.limit:
            raise DownloadLimitExceeded(
                f"The files in the container {request.container} have {total} bytes; "
                f"max_json_body_size allows {request.limit}."
            )
        names = [str(item["name"]) for item in listed]
        contents = await asyncio.gather(*(_content(cloud, request.container, name) for name in names))
    except CloudError as error:
        if error.transient:
            raise
        raise NotFound(f"The files in the container {request.container} cannot be read: {error.message}") from error
    return dict(zip(names, contents, strict=True))


async def _objects(cloud: Cloud, container: str) -> list[dict[str, Any]]:
    """Return all objects of the container; Swift lists them in pages."""
    found: list[dict[str, object]] = []
    while True:
        marker = found[-1]["name"] if found else None
        params = {"format": "json", "marker": marker}
        page = await cloud.get("swift", f"/{quote(container, safe='')}", params=params)
        if not page:
            return found
        found += [item for item in page if "name" in item]


async def _content(cloud: Cloud, container: str, name: str) -> str:
    path = f"/{quote(container, safe='')}/{quote(name)}"
    answer = await cloud.request("GET", "swift", path, headers={"Accept": "*/*"})
    try:
        return answer.content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadValue(f"The file {name} in the container {container} is not UTF-8 (byte {error.start}).") from None
