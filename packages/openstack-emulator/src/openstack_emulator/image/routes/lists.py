"""Which images a list shows, and in which order."""

from __future__ import annotations

import csv
import operator
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Query, Request
from openstack_emulator.image.records import Image
from openstack_emulator.image.rules.attributes import COMPUTED, VISIBILITIES, WRITABLE
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.views import image_view

Test = Callable[[Image], bool]

SORT_KEYS = ("name", "status", "container_format", "disk_format", "size", "id", "created_at", "updated_at")
LISTS = frozenset({"name", "status", "id", "container_format", "disk_format"})
"""Attributes that take `in:` lists."""
PAGING = frozenset({"limit", "marker", "sort", "sort_key", "sort_dir"})
ELSEWHERE = frozenset({"member_status", "os_hidden", "visibility"})
"""Parameters that decide which images are candidates, see `candidates`."""
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "eq": operator.eq,
    "neq": operator.ne,
}


def candidates(service: ImageService, request: Request) -> list[Image]:
    """What the caller may list, of the visibility, the status of membership and the hiding that the query asks for."""
    query = request.query
    visibility = query.get("visibility")
    if visibility is not None and visibility not in (*VISIBILITIES, "all"):
        raise bad_request(f"Invalid visibility value: {visibility}")
    status = query.get("member_status", "accepted")
    if status not in ("pending", "accepted", "rejected", "all"):
        raise bad_request(f"Invalid status: {status}")
    return service.images.listed(request.context, visibility, status, query.boolean("os_hidden") or False)


def filtered(images: list[Image], query: Query) -> list[Image]:
    """The images that pass every parameter of the query; 400 for values that make no sense."""
    tests = [_test(name, value) for name, value in query.pairs if name not in PAGING | ELSEWHERE]
    return [image for image in images if all(test(image) for test in tests)]


def _test(name: str, value: str) -> Test:
    if name == "tag":
        return lambda image: value in image.tags
    if name in ("size_min", "size_max"):
        return _bound(name, value)
    if name in ("created_at", "updated_at"):
        return _moment(name, value)
    expected = _typed(name, value)
    return lambda image: image_view(image).get(name) in expected


def _bound(name: str, value: str) -> Test:
    limit = _number(name, value)
    compare = operator.ge if name == "size_min" else operator.le
    return lambda image: image.size is not None and compare(image.size, limit)


def _moment(name: str, value: str) -> Test:
    """`gt:2030-01-01T00:00:00Z`; without an operator, equal."""
    before, separator, after = value.partition(":")
    word, text = (before, after) if separator and before in COMPARISONS else ("eq", value)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise bad_request(f'Bad "{name}" query filter format. Use ISO 8601 DateTime notation.') from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return lambda image: COMPARISONS[word](datetime.fromisoformat(image.get(name)), moment)


def _typed(name: str, value: str) -> list[Any]:
    """The values that match, as the attribute's own type."""
    schema = WRITABLE.get(name) or COMPUTED.get(name) or {"type": "string"}
    kind = schema["type"]
    if "integer" in kind:
        return [_number(name, value)]
    if kind == "boolean":
        found = Query(f"{name}={value}").boolean(name)
        return [found]
    if name in LISTS and value.startswith("in:"):
        return next(csv.reader([value.removeprefix("in:")]), [])
    return [value.removeprefix("eq:") if name in LISTS else value]


def _number(name: str, value: str) -> int:
    try:
        number = int(value)
    except ValueError:
        number = -1
    if number < 0:
        raise bad_request(f"Invalid value '{value}' for '{name}': it must be a non-negative integer.")
    return number


def sorted_images(images: list[Image], query: Query) -> list[Image]:
    """The images in the order asked for; newest first when nothing is asked.

    `sort=name:asc,size` or `sort_key` and `sort_dir`, not both; a key without direction is descending.
    """
    rows = images[::-1]
    for field, direction in reversed(_order(query)):
        if field not in SORT_KEYS:
            raise bad_request(f"Invalid sort key: {field}. It must be one of the following: {', '.join(SORT_KEYS)}.")
        if direction not in ("asc", "desc"):
            raise bad_request(f"Invalid sort direction: {direction}")
        rows.sort(key=_rank(field), reverse=direction == "desc")
    return rows


def _order(query: Query) -> list[tuple[str, str]]:
    combined, keys, directions = query.get("sort"), query.all("sort_key"), query.all("sort_dir")
    if combined is not None:
        if keys or directions:
            raise bad_request("Old and new sorting syntax cannot be combined")
        parts = [part.strip().partition(":") for part in combined.split(",")]
        return [(field, direction or "desc") for field, _, direction in parts]
    if len(directions) > 1 and len(directions) != len(keys):
        raise bad_request("Number of sort dirs does not match the number of sort keys")
    if len(directions) <= 1:
        directions = (directions or ["desc"]) * max(len(keys), 1)
    return list(zip(keys or ["created_at"], directions, strict=True))


def _rank(field: str) -> Callable[[Image], tuple[bool, object]]:
    nothing = 0 if field == "size" else ""
    return lambda image: (image.get(field) is not None, image.get(field) or nothing)
