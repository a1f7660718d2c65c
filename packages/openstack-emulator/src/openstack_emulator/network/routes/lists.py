"""Lists as Neutron gives them: any field filters, tags filter, `fields` trims, pages link to both neighbours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.paging import ordered
from openstack_emulator.core.store import R
from openstack_emulator.core.typed import Readable, plain
from openstack_emulator.core.validation.converting import Invalid
from openstack_emulator.network.records.core import FixedIp
from openstack_emulator.network.rules.attributes import NEUTRON, UNCONVERTIBLE, VERSION, boolean
from openstack_emulator.network.rules.errors import missing
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, T
from openstack_emulator.network.rules.resources import Resources
from openstack_emulator.network.views.api import View, view

NOT_FILTERS = frozenset({"fields", "limit", "marker", "page_reverse", "sort_key", "sort_dir", "changed_since"})
TAG_FILTERS: Mapping[str, Callable[[set[str], set[str]], bool]] = {
    "tags": lambda expected, present: expected <= present,
    "tags-any": lambda expected, present: bool(expected & present),
    "not-tags": lambda expected, present: not expected <= present,
    "not-tags-any": lambda expected, present: not expected & present,
}
TIMES = ("created_at", "updated_at")
CONVERTED = (boolean, VERSION)
"""The types to which values of filters are converted."""
DIRECTIONS = ("asc", "desc")
UNFILTERED: Mapping[str, tuple[str, ...]] = {
    "address_group": ("addresses", "shared"),
    "address_scope": ("description", "revision_number"),
    "floatingip": ("port_details", "port_forwardings"),
    "metering_label_rule": ("project_id",),
    "network": ("subnets",),
    "policy": ("rules",),
    "port": ("allowed_address_pairs", "extra_dhcp_opts"),
    "router": ("external_gateway_info", "routes", "status"),
    "security_group": ("security_group_rules",),
    "segment": ("project_id",),
    "subnet": ("allocation_pools", "dns_nameservers", "host_routes", "prefixlen", "service_types"),
    "subnetpool": ("prefixes",),
    "trunk": ("sub_ports",),
}
"""Attributes by which lists cannot be filtered, by kind, as the answers of a running Neutron show; besides TIMES."""
UNTAGGED = frozenset(
    {"address_group", "address_scope", "metering_label", "metering_label_rule", "rbac_policy", "security_group_rule",
     "segment"}
)  # fmt: skip
"""Kinds without tags."""
WORDS = {"true": True, "1": True, "false": False, "0": False}


def listed(resources: Resources[T], actor: Actor, request: Request, parent: Mapping[str, str]) -> dict[str, Any]:
    """The body of a list: `{plural: […], plural_links: […]}`.

    parent: fields that the path fixes. Raises: ApiError 400 for bad paging and for unknown fields to filter or sort by.
    """
    query, kind, state = request.query, resources.kind, resources.state
    filters = _filters(query)
    _check_known(_filterable(kind), filters, "filtering")
    _check_order(query)
    _check_known(kind.filterable, query.all("sort_key"), "sort_keys")
    _check_values(kind, filters)
    rows = _candidates(resources, {**filters, **{name: [value] for name, value in parent.items()}})
    rows = [row for row in rows if resources.visible(actor, row)]
    if (marker := query.get("marker")) is not None:
        marked = resources.reach(actor, marker)
    derived = any(name in kind.derived for name in filters)
    shown = {row.id: view(state, actor, row) for row in rows} if derived else {}
    tests = [_test(kind, name, values, shown) for name, values in filters.items()]
    rows = [row for row in rows if all(test(row) for test in tests)]
    if (since := query.get("changed_since")) is not None:
        rows = [row for row in rows if (row.get("updated_at") or "") >= since]
    if marker is not None and marked not in rows:
        rows.append(marked)  # it need not match the filters
    rows, links = paged(kind.missing, rows, request)
    fields = query.all("fields")
    items = [trimmed(shown.get(row.id) or view(state, actor, row), fields) for row in rows]
    return {kind.plural: items, **({f"{kind.plural}_links": links} if links else {})}


def _test(kind: ResourceKind[Any], name: str, values: list[str], shown: Mapping[str, View]) -> Callable[[Any], bool]:
    """What tells whether a row matches a filter.

    shown: the rows as the API shows them, if fields count that they do not have themselves.
    """
    if name in TAG_FILTERS:
        return lambda row: _tags_match(name, values, row)
    if name == "fixed_ips":
        return lambda row: _fixed_ips_match(row.fixed_ips, values)
    if shown:
        return lambda row: name in shown[row.id] and _matches(shown[row.id].get(name), values)
    if name not in kind.stored:
        return lambda row: False
    value = attrgetter(kind.stored[name])
    return lambda row: _matches(value(row), values)


def _filterable(kind: ResourceKind[Any]) -> frozenset[str]:
    untagged = TAG_FILTERS.keys() if kind.name in UNTAGGED else ()
    return frozenset({*kind.filterable, *TAG_FILTERS}.difference(TIMES, UNFILTERED.get(kind.name, ()), untagged))


def _check_known(known: Collection[str], names: Iterable[str], purpose: str) -> None:
    if unknown := sorted(set(names).difference(known)):
        raise bad_request(f"{unknown} is invalid attribute for {purpose}", "HTTPBadRequest")


def _check_values(kind: ResourceKind[Any], body: Mapping[str, list[str]]) -> None:
    """Refuse values that cannot be converted to the type of their attribute."""
    for name, values in body.items():
        attribute = kind.attributes.get(name)
        if attribute is None or attribute.check not in CONVERTED:
            continue
        for value in values:
            try:
                attribute.check(value)
            except Invalid as error:
                if error.problem.reason in UNCONVERTIBLE:
                    raise NEUTRON.error(name, value, error.problem) from None
                continue  # converted, but no value that an object can have: nothing matches


def trimmed(shown: View, fields: Iterable[str]) -> View:
    """Only the fields asked for; all when none is."""
    return {name: shown[name] for name in fields if name in shown} if fields else shown


def _key(row: Readable) -> str:
    """What a marker names a record by: its ID, or the name of one without ID."""
    return str(row.get("id") or row.get("name"))


def paged(unknown: Callable[[str], ApiError], rows: list[R], request: Request) -> tuple[list[R], list[dict[str, str]]]:
    """Order and cut a list; links to the page before and after when a limit was given.

    unknown: makes the error for a marker that is not in the list.
    """
    query = request.query
    limit, marker = _limit(query), query.get("marker")
    reverse = query.boolean("page_reverse") or False
    if limit or "sort_key" in query:
        rows = ordered(rows, query, [("id", False)])
    if marker:
        position = next((position for position, row in enumerate(rows) if _key(row) == marker), None)
        if position is None:
            raise unknown(marker)
        rows = rows[:position] if reverse else rows[position + 1 :]
    if not limit:
        return rows, []
    rows = rows[-limit:] if reverse else rows[:limit]
    links = []
    if rows and (len(rows) == limit or reverse):
        links.append({"rel": "next", "href": _href(request, _key(rows[-1]), reverse=False)})
    if rows and (len(rows) == limit or not reverse):
        links.append({"rel": "previous", "href": _href(request, _key(rows[0]), reverse=True)})
    return rows, links


def _limit(query: Query) -> int | None:
    value = query.get("limit")
    if value is None:
        return None
    if not value.isdecimal():
        message = f"Bad limit request: Limit must be an integer 0 or greater and not '{value}'."
        raise bad_request(message, "BadRequest")
    return int(value)


def _check_order(query: Query) -> None:
    """Refuse sort keys without as many directions, and unknown directions."""
    keys, directions = query.all("sort_key"), query.all("sort_dir")
    if len(keys) != len(directions):
        raise bad_request("The number of sort_keys and sort_dirs must be same", "HTTPBadRequest")
    if unknown := [direction for direction in directions if direction not in DIRECTIONS]:
        raise bad_request(
            f"{unknown} is invalid value for sort_dirs, valid value is 'asc' and 'desc'", "HTTPBadRequest"
        )


def _href(request: Request, marker: str, reverse: bool) -> str:
    parameters = [(key, value) for key, value in request.query.pairs if key not in ("marker", "page_reverse")]
    direction = [("page_reverse", "True")] if reverse else []
    return f"{request.url}?{urlencode([*parameters, ('marker', marker), *direction])}"


def _filters(query: Query) -> dict[str, list[str]]:
    """Field → accepted values; `tenant_id` is `project_id`."""
    body: dict[str, list[str]] = {}
    for name, value in query.pairs:
        if name not in NOT_FILTERS:
            body.setdefault("project_id" if name == "tenant_id" else name, []).append(value)
    return body


def _candidates(resources: Resources[T], body: Mapping[str, list[str]]) -> list[T]:
    """The rows an index finds, or all."""
    rows, kind = resources.rows, resources.kind
    if len(ids := body.get("id", [])) > 0:
        return [row for key in dict.fromkeys(ids) if (row := rows.get(key)) is not None]
    single = {name: values[0] for name, values in body.items() if len(values) == 1 and values[0]}
    indexed = {name: value for name, value in single.items() if name in kind.indexed and _plain(name)}
    return rows.select(**indexed) if indexed else list(rows)


def _plain(name: str) -> bool:
    """Whether a field holds text, so that an index finds the value of a query."""
    return name != "segmentation_id"


def _tags_match(name: str, values: list[str], row: Readable) -> bool:
    present = set(row.get("tags") or ())
    return all(TAG_FILTERS[name](set(value.split(",")), present) for value in values)


def _matches(value: object, values: list[str]) -> bool:
    if isinstance(value, list):
        return any(str(item) in values for item in map(plain, value))
    if isinstance(value, bool):
        return any(WORDS.get(word.lower()) is value for word in values)
    if value is None:
        return "" in values or "None" in values
    return str(value) in values


def _fixed_ips_match(fixed_ips: list[FixedIp], values: list[str]) -> bool:
    """`fixed_ips=subnet_id=X&fixed_ips=ip_address=Y`: the same key several times means any of them."""
    expected_values: dict[str, list[str]] = {}
    for value in values:
        key, _, expected = value.partition("=")
        if key not in ("subnet_id", "ip_address", "ip_address_substr"):
            continue
        expected_values.setdefault(key, []).append(expected)
    substring = expected_values.pop("ip_address_substr", None)
    return any(
        all(getattr(fixed, key) in texts for key, texts in expected_values.items())
        and (substring is None or any(part in fixed.ip_address for part in substring))
        for fixed in fixed_ips
    )


def listed_views(name: str, rows: list[View], request: Request) -> Response:
    """A list of records that have no table: filtered by equal fields, paged, trimmed."""
    known = {key for row in rows for key in row}
    filters = [(key, value) for key, value in request.query.pairs if key in known]
    matching = [row for row in rows if all(str(row.get(key)).lower() == value.lower() for key, value in filters)]
    shown, links = paged(lambda key: missing(name, name, key), matching, request)
    fields = request.query.all("fields")
    body: View = {name: [trimmed(row, fields) for row in shown]}
    return Response({**body, **({f"{name}_links": links} if links else {})})
