"""Order and pages of lists."""

from __future__ import annotations

import pytest

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Query, Request
from openstack_emulator.core.paging import ordered, page

ROWS = [{"id": str(n), "size": size, "name": name} for n, (size, name) in enumerate([(2, "b"), (None, "a"), (2, "a")])]


def ids(rows: list[dict[str, str | int | None]]) -> str:
    return "".join(str(row["id"]) for row in rows)


@pytest.mark.parametrize(
    ("query", "shown", "marker", "truncated"),
    [
        ("", "012", None, False),
        ("limit=2", "01", "1", True),
        ("limit=2&marker=1", "2", None, False),
        ("limit=3", "012", "2", False),
        ("limit=3&marker=2", "", None, False),
        ("limit=0", "", None, True),
        ("marker=2", "", None, False),
    ],
)
def test_a_full_page_has_a_marker_for_the_next(query: str, shown: str, marker: str | None, truncated: bool) -> None:
    result = page(ROWS, Query(query))
    assert (ids(result.rows), result.next_marker, result.truncated) == (shown, marker, truncated)


@pytest.mark.parametrize("query", ["marker=9", "limit=-1", "limit=x"])
def test_a_wrong_marker_or_limit_is_a_400(query: str) -> None:
    with pytest.raises(ApiError) as caught:
        page(ROWS, Query(query))
    assert caught.value.status == 400


def test_no_page_is_larger_than_the_service_allows() -> None:
    assert page(ROWS, Query("limit=3"), largest=2).next_marker == "1"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", "012"),
        ("sort=size,name", "120"),
        ("sort=size:desc", "021"),
        ("sort_key=name&sort_dir=desc&sort_key=size&sort_dir=asc", "012"),
    ],
)
def test_order(query: str, shown: str) -> None:
    assert ids(ordered(ROWS, Query(query))) == shown


def test_an_unknown_direction_is_a_400() -> None:
    with pytest.raises(ApiError):
        ordered(ROWS, Query("sort=name:up"))


def test_the_next_link_keeps_the_rest_of_the_query() -> None:
    request = Request("GET", "/compute/v2.1/servers", "limit=1&name=a%20b&marker=x")
    request.base, request.raw_path = "http://cloud/compute", "/v2.1/servers"
    [link] = page(ROWS, Query("limit=1")).links(request)
    assert link["href"] == "http://cloud/compute/v2.1/servers?limit=1&name=a+b&marker=0"
