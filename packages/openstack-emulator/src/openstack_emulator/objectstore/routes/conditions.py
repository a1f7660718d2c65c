"""Conditional requests and parts of a body: `If-*` and `Range`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime

from openstack_emulator.core.http import Response
from openstack_emulator.objectstore.rules.errors import refused
from openstack_emulator.objectstore.rules.ranges import Span
from openstack_emulator.objectstore.rules.times import http_date


def check_conditions(headers: Mapping[str, str], etag: str, modified: float) -> Response | None:
    """304 when the client has it already, None when the body is due.

    Raises: ApiError 412 when the client wants another state of the object.
    """
    modified = -(-modified // 1)
    if (requested := headers.get("if-match")) is not None and not _names(requested, etag):
        raise refused(412)
    if (since := _moment(headers.get("if-unmodified-since"))) is not None and modified > since:
        raise refused(412)
    if (known := headers.get("if-none-match")) is not None:
        return _not_modified(etag, modified) if _names(known, etag) else None
    if (since := _moment(headers.get("if-modified-since"))) is not None and modified <= since:
        return _not_modified(etag, modified)
    return None


def partial(data: bytes, headers: dict[str, str], requested: Sequence[Span], boundary: str) -> Response:
    """206 with one part of the data, or several as `multipart/byteranges`."""
    if len(requested) == 1:
        start, end = requested[0]
        part = {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}", "Content-Length": str(end - start)}
        return Response(data[start:end], 206, {**headers, **part})
    body = b"".join(
        f"--{boundary}\r\nContent-Type: {headers['Content-Type']}\r\n"
        f"Content-Range: bytes {start}-{end - 1}/{len(data)}\r\n\r\n".encode()
        + data[start:end]
        + b"\r\n"
        for start, end in requested
    )
    body += f"--{boundary}--".encode()
    whole = {"Content-Type": f"multipart/byteranges;boundary={boundary}", "Content-Length": str(len(body))}
    return Response(body, 206, {**headers, **whole})


def _names(header: str, etag: str) -> bool:
    tags = {tag.strip().removeprefix("W/").strip('"') for tag in header.split(",")}
    return "*" in tags or etag.strip('"') in tags


def _moment(header: str | None) -> float | None:
    try:
        return None if header is None else parsedate_to_datetime(header).timestamp()
    except ValueError:
        return None


def _not_modified(etag: str, modified: float) -> Response:
    return Response(None, 304, {"ETag": etag, "Last-Modified": http_date(modified)})
