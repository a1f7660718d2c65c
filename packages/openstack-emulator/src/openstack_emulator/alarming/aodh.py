"""The alarming service: its table of routes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from openstack_emulator.alarming.alarms import Alarms, view, views
from openstack_emulator.alarming.evaluating import Evaluator
from openstack_emulator.alarming.notifying import Notifier
from openstack_emulator.alarming.rules import STATES, invalid
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import READERS, Cloud, Records, Service
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.fields import as_boolean, as_integer
from openstack_emulator.core.guards import restricted
from openstack_emulator.core.http import Phrases, Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.search import compare, predicate
from openstack_emulator.core.store import Record
from openstack_emulator.core.versions import ApiVersion, all_versions, media_type, own

SORT_FIELDS = ("name", "alarm_id", "enabled", "state", "type", "severity", "project_id", "user_id", "description",
               "timestamp", "state_timestamp", "repeat_actions")  # fmt: skip
FILTERS = dict.fromkeys(
    ("name", "enabled", "state", "type", "severity", "project_id", "user_id", "timestamp", "repeat_actions",
     "all_projects"), ("eq",)
)  # fmt: skip
"""The fields of a list's conditions, and the operators that each can have."""
HISTORY_FILTERS = {
    **dict.fromkeys(("id", "alarm_id", "type", "severity", "user_id", "project_id", "on_behalf_of"), ("eq",)),
    "timestamp": ("eq", "lt", "le", "gt", "ge"),
}


class AlarmRecords(Records):
    """Alarms, their history, and the quotas of projects."""

    service = "aodh"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.alarms = Alarms(self, Notifier(self))
        self.evaluator = Evaluator(self, self.alarms)


class Conditions:
    """The conditions of a list: parallel `q.field`, `q.op` and `q.value`."""

    def __init__(self, request: Request, known: Mapping[str, Collection[str]]) -> None:
        names, values = request.query.all("q.field"), request.query.all("q.value")
        operators = [operator or "eq" for operator in request.query.all("q.op")] or ["eq"] * len(names)
        if not len(names) == len(values) == len(operators):
            raise bad_request("Each condition needs q.field, q.op and q.value.")
        if unknown := set(names) - known.keys():
            raise invalid("field", _set(unknown), f"only fields {_set(known)} are allowed")
        for name, operator in zip(names, operators, strict=True):
            if operator not in known[name]:
                raise invalid("op", _set({operator}), f"only operations {_set(known[name])} are allowed")
        self._all = list(zip(names, operators, values, strict=True))

    def value(self, name: str) -> str | None:
        """Return the value that a field must have, and drop its condition."""
        found = [value for field, _, value in self._all if field == name]
        self._all = [condition for condition in self._all if condition[0] != name]
        return found[-1] if found else None

    def hold(self, record: Record) -> bool:
        """Return whether a record has what all conditions say."""
        return all(compare(operator, read(record, name), value) for name, operator, value in self._all)


def _set(words: Collection[str]) -> str:
    """Return strings as Aodh's messages list them."""
    return f"{{{', '.join(map(repr, sorted(words)))}}}"


def _page(rows: list[Record], request: Request) -> list[Record]:
    """Return the rows of the page that is asked for. Raises ApiError 400."""
    limit = request.query.get("limit")
    if limit is not None and as_integer(limit) is None:
        problem = f"invalid literal for int() with base 10: {limit!r}"
        raise invalid("limit", limit, f"unable to convert to int. Error: {problem}")
    return page(rows, request.query, missing=lambda marker: bad_request(f"Marker {marker} not found.")).rows


def read(record: Record, name: str) -> Any:
    """Return the value of a field that alarms are filtered by."""
    if name == "meter_name":
        return record["rule"].get("meter_name", record["rule"].get("metric"))
    return record.get({"alarm_id": "id"}.get(name, name))


def list_alarms(aodh: AlarmRecords, request: Request) -> Response:
    """The alarms of one project; of all with the condition `all_projects`, for administrators."""
    conditions = Conditions(request, FILTERS)
    everywhere, project = as_boolean(conditions.value("all_projects")), conditions.value("project_id")
    alarms = aodh.alarms
    rows = alarms.listed_everywhere(request.context) if everywhere else alarms.listed(request.context, project)
    found = [alarm for alarm in rows if conditions.hold(alarm)]
    return Response(views(_page(_sorted(found, request), request)))


def _sorted(rows: list[Record], request: Request) -> list[Record]:
    """The rows in the order of `sort=FIELD[:asc|desc]`, which can be repeated."""
    for wanted in reversed(request.query.all("sort")):
        name, _, direction = wanted.partition(":")
        if name not in SORT_FIELDS:
            raise invalid("sort", name, f"valid keys: {sorted(SORT_FIELDS)}")
        if direction not in ("", "asc", "desc"):
            raise invalid("sort", direction, "the direction must be asc or desc")
        rows.sort(key=lambda row: str(read(row, name)), reverse=direction == "desc")
    return rows


def create_alarm(aodh: AlarmRecords, request: Request) -> Response:
    alarm = aodh.alarms.create(request)
    aodh.evaluator.watch()
    body = {**view(alarm), "evaluate_timestamp": alarm["timestamp"]}
    return Response(body, 201, {"Location": f"{request.base}/v2/alarms/{alarm['id']}"})


def _alarm(aodh: AlarmRecords, request: Request) -> Record:
    return aodh.alarms.visible(request.context, request.vars["alarm_id"])


def show_alarm(aodh: AlarmRecords, request: Request) -> Response:
    return Response(view(_alarm(aodh, request)))


def change_alarm(aodh: AlarmRecords, request: Request) -> Response:
    alarm = _alarm(aodh, request)
    aodh.alarms.change(alarm, request)
    aodh.evaluator.watch()
    return Response(view(alarm))


def delete_alarm(aodh: AlarmRecords, request: Request) -> Response:
    aodh.alarms.remove(_alarm(aodh, request), request.context)
    return Response(status=204)


def show_state(aodh: AlarmRecords, request: Request) -> Response:
    return Response(_alarm(aodh, request)["state"])


def set_state(aodh: AlarmRecords, request: Request) -> Response:
    alarm, state = _alarm(aodh, request), request.json
    if state not in STATES:
        raise bad_request("state invalid")
    aodh.alarms.set_state(alarm, state, "Manually set via API", {}, request.context)
    return Response(state)


def _entry(entry: Record) -> dict[str, Any]:
    return {"event_id": entry["id"], **{key: value for key, value in entry.items() if key != "id"}}


def show_history(aodh: AlarmRecords, request: Request) -> Response:
    """The history of an alarm, the latest entry first; of a deleted alarm too."""
    key, context = request.vars["alarm_id"], request.context
    conditions = Conditions(request, HISTORY_FILTERS)
    entries = [
        entry
        for entry in reversed(aodh.alarms.history.select(alarm_id=key))
        if (context.is_admin or entry["on_behalf_of"] == context.project_id) and conditions.hold(entry)
    ]
    if not entries:
        aodh.alarms.visible(context, key)
    return Response([_entry(entry) for entry in _page(entries, request)])


def _search(rows: list[Record], request: Request) -> list[Record]:
    """The rows that the body's `filter` selects, in the order of `orderby`, at most `limit`."""
    body = request.json
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    try:
        expression, order = (json.loads(body.get(name) or "null") for name in ("filter", "orderby"))
    except (TypeError, ValueError):
        raise bad_request("filter and orderby must be strings of JSON.") from None
    chosen = predicate(expression, read)
    found = [row for row in rows if chosen(row)]
    if not isinstance(order or [], list) or not all(isinstance(one, dict) and len(one) == 1 for one in order or []):
        raise bad_request("orderby must be a list of objects with one field each.")
    for one in reversed(order or []):
        ((name, direction),) = one.items()
        found.sort(key=lambda row: str(read(row, name)), reverse=str(direction).lower() == "desc")
    limit = body.get("limit")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise invalid("limit", limit, "Limit should be positive")
    return found[:limit]


def query_alarms(aodh: AlarmRecords, request: Request) -> Response:
    return Response(views(_search(aodh.alarms.listed(request.context), request)))


def query_history(aodh: AlarmRecords, request: Request) -> Response:
    context = request.context
    rows = [entry for entry in aodh.alarms.history if context.is_admin or entry["on_behalf_of"] == context.project_id]
    return Response([_entry(entry) for entry in _search(rows, request)])


def capabilities(aodh: AlarmRecords, request: Request) -> Response:
    return Response(
        {
            "api": {
                "alarms:query:simple": True,
                "alarms:query:complex": True,
                "alarms:history:query:simple": True,
                "alarms:history:query:complex": True,
            },
            "alarm_storage": {"storage:production_ready": True},
        }
    )


def _quotas(aodh: AlarmRecords, project: str) -> dict[str, Any]:
    return {"project_id": project, "quotas": [{"resource": "alarms", "limit": aodh.alarms.limit_of(project)}]}


def show_quotas(aodh: AlarmRecords, request: Request) -> Response:
    """The quotas of the caller's project; of another one with `project_id`, for administrators."""
    project = request.query.get("project_id") or request.context.project
    if project != request.context.project_id:
        request.context.require("admin")
    return Response(_quotas(aodh, project))


def set_quotas(aodh: AlarmRecords, request: Request) -> Response:
    request.context.require("admin")
    body = request.json
    given = body.get("quotas") if isinstance(body, dict) else None
    if not isinstance(given, list) or not isinstance(body.get("project_id"), str):
        raise bad_request("The request body must have project_id and quotas.")
    for quota in given:
        limit = quota.get("limit") if isinstance(quota, dict) else None
        if not isinstance(quota, dict) or quota.get("resource") != "alarms":
            raise bad_request("The resource of a quota must be alarms.")
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < -1:
            raise invalid("limit", limit, "Value should be greater or equal to -1")
    known = aodh.alarms.limits.get(body["project_id"]) or aodh.alarms.limits.add({"id": body["project_id"]})
    aodh.alarms.limits.update(known, alarms=given[-1]["limit"] if given else -1)
    return Response(_quotas(aodh, body["project_id"]), 201)


def delete_quotas(aodh: AlarmRecords, request: Request) -> Response:
    request.context.require("admin")
    known = aodh.alarms.limits.get(request.vars["project_id"])
    if known is not None:
        aodh.alarms.limits.remove(known)
    return Response(status=204)


_VERSION = ApiVersion(
    "v2",
    (own("/v2"),),
    "stable",
    {
        "updated": "2013-02-13T00:00:00Z",
        "media-types": [media_type("telemetry-v2"), media_type("telemetry-v2", "xml")],
    },
)


ALARMS = {
    "/alarms": {"GET": list_alarms, "POST": create_alarm},
    "/alarms/{alarm_id}": {"GET": show_alarm, "PUT": change_alarm, "DELETE": delete_alarm},
    "/alarms/{alarm_id}/state": {"GET": show_state, "PUT": set_state},
    "/alarms/{alarm_id}/history": {"GET": show_history},
    "/quotas": {"GET": show_quotas, "POST": set_quotas},
    "/quotas/{project_id}": {"DELETE": delete_quotas},
}
QUERIES = {"/query/alarms": {"POST": query_alarms}, "/query/alarms/history": {"POST": query_history}}
ROUTES = {
    **restricted(ALARMS, READERS, {"member"}),
    **restricted(QUERIES, READERS, READERS),
    "/capabilities": {"GET": capabilities},
}

ALARMING = Service(
    name="aodh",
    mount="/alarming",
    records=AlarmRecords,
    endpoints={"alarming": "/alarming"},
    prefixes=("/v2",),
    routes=ROUTES,
    root={"/": {"GET": all_versions(_VERSION, nested=True)}},
    public=frozenset({"GET /"}),
    error_body=error_bodies.aodh,
    phrases=Phrases(not_json="Request is not in valid JSON format"),
)
