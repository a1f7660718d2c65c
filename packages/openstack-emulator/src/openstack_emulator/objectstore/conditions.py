"""Conditional requests and parts of a body: `If-*` and `Range`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from email.utils import formatdate, parsedate_to_datetime

from openstack_emulator.core.http import Response
from openstack_emulator.objectstore.errors import refused

MOST_RANGES = 50
Span = tuple[int, int]


def http_date(seconds: float) -> str:
    """A time for `Last-Modified`: whole seconds, rounded up as Swift does."""
    return formatdate(-(-seconds // 1), usegmt=True)


def check_conditions(headers: Mapping[str, str], etag: str, modified: float) -> Response | None:
    """304 when the client has it already, None when the body is due.

    Raises: ApiError 412 when the client wants another state of the object.
    """
    modified = -(-modified // 1)
    if (wanted := headers.get("if-match")) is not None and not _names(wanted, etag):
        raise refused(412)
    if (since := _moment(headers.get("if-unmodified-since"))) is not None and modified > since:
        raise refused(412)
    if (known := headers.get("if-none-match")) is not None:
        return _not_modified(etag, modified) if _names(known, etag) else None
    if (since := _moment(headers.get("if-modified-since"))) is not None and modified <= since:
        return _not_modified(etag, modified)
    return None


def spans(header: str | None, size: int, shown: Mapping[str, str] | None = None) -> Sequence[Span] | None:
    """The parts a `Range` header asks for, as first byte and the one after the last; None for all of it.

    A header that is malformed is ignored, as HTTP demands.

    shown: the headers of the object.

    Raises: ApiError 416, with these headers, when nothing of it exists.
    """
    match = re.fullmatch(r"bytes=(.+)", (header or "").strip())
    parts = [part.strip() for part in match.group(1).split(",")] if match else []
    matches = [re.fullmatch(r"(\d*)-(\d*)", part) for part in parts]
    if not matches or len(parts) > MOST_RANGES:
        return None
    found: list[Span] = []
    for given in matches:
        if given is None or given.group(0) == "-":
            return None
        span = _span(given.group(1), given.group(2), size)
        if span is None:
            return None
        if span[0] < span[1]:
            found.append(span)
    if not found:
        raise refused(416, {**(shown or {}), "Content-Range": f"bytes */{size}"})
    return found


def partial(data: bytes, headers: dict[str, str], wanted: Sequence[Span], boundary: str) -> Response:
    """206 with one part of the data, or several as `multipart/byteranges`."""
    if len(wanted) == 1:
        start, end = wanted[0]
        part = {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}", "Content-Length": str(end - start)}
        return Response(data[start:end], 206, {**headers, **part})
    body = b"".join(
        f"--{boundary}\r\nContent-Type: {headers['Content-Type']}\r\n"
        f"Content-Range: bytes {start}-{end - 1}/{len(data)}\r\n\r\n".encode()
        + data[start:end]
        + b"\r\n"
        for start, end in wanted
    )
    body += f"--{boundary}--".encode()
    whole = {"Content-Type": f"multipart/byteranges;boundary={boundary}", "Content-Length": str(len(body))}
    return Response(body, 206, {**headers, **whole})


def _span(first: str, last: str, size: int) -> Span | None:
    if not first:
        return max(size - int(last), 0), size
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1, size) if last else size


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
