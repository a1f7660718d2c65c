"""Answers that are lists: filters from the query, pages, links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import R
from openstack_emulator.core.typed import Readable
from openstack_emulator.identity.views import View

FLAGS = frozenset({"enabled", "is_domain"})
COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "equals": lambda have, want: have == want,
    "contains": lambda have, want: want in have,
    "startswith": lambda have, want: have.startswith(want),
    "endswith": lambda have, want: have.endswith(want),
}
TAG_FILTERS: dict[str, Callable[[set[str], set[str]], bool]] = {
    "tags": lambda have, want: want <= have,
    "tags-any": lambda have, want: bool(want & have),
    "not-tags": lambda have, want: not want <= have,
    "not-tags-any": lambda have, want: not want & have,
}


def filtered(rows: Iterable[R], query: Query, names: Sequence[str]) -> list[R]:
    """The rows that pass every filter of the query: `name=`, `name__icontains=`, `enabled=`, `tags=a,b`.

    names: the fields that may be filtered by; other words of the query are left alone.
    """
    tests = [test for key, value in query.pairs if (test := _test(key, value, query, names)) is not None]
    return [row for row in rows if all(test(row) for test in tests)] if tests else list(rows)


def list_response(request: Request, plural: str, rows: Sequence[View]) -> Response:
    """One page of rows under their plural, with links."""
    shown = page(rows, request.query)
    if shown.next_marker is None or not shown.truncated:
        return Response({plural: shown.rows, "links": links(request)})
    further = {**links(request), "next": request.next_url(shown.next_marker)}
    return Response({plural: shown.rows, "links": further, "truncated": True})


def links(request: Request) -> View:
    """The links of a list that is all on one page."""
    query = f"?{request.query_string}" if request.query_string else ""
    return {"self": request.url + query, "previous": None, "next": None}


def _test(key: str, value: str, query: Query, names: Sequence[str]) -> Callable[[Readable], bool] | None:
    if key in TAG_FILTERS:
        return _tag_test(key, value) if "tags" in names else None
    name, _, comparison = key.partition("__")
    if name not in names:
        return None
    if name in FLAGS:
        expected = query.boolean(key)
        return lambda row: bool(row.get(name)) == expected
    return _text_test(name, value, comparison or "equals")


def _tag_test(key: str, value: str) -> Callable[[Readable], bool]:
    tags = set(value.split(","))
    return lambda row: TAG_FILTERS[key](set(row.get("tags")), tags)


def _text_test(name: str, value: str, comparison: str) -> Callable[[Readable], bool]:
    """A comparison with an `i` before its name ignores case. An empty value stands for none."""
    plain = comparison if comparison in COMPARISONS else comparison.removeprefix("i")
    if plain not in COMPARISONS:
        raise bad_request(f"Unknown comparison '{comparison}' in the filter '{name}__{comparison}'.")
    if plain == comparison:
        return lambda row: COMPARISONS[plain](_text(row.get(name)), value)
    return lambda row: COMPARISONS[plain](_text(row.get(name)).lower(), value.lower())


def _text(value: object) -> str:
    return "" if value is None else str(value)
