"""Routes of alarms."""

from __future__ import annotations

from openstack_emulator.alarming.records import Alarm
from openstack_emulator.alarming.routes.lists import Conditions, field_of_alarm, found, paged
from openstack_emulator.alarming.rules.alarms import MANUAL
from openstack_emulator.alarming.rules.composition import Alarming
from openstack_emulator.alarming.rules.inputs import STATES, NewAlarm
from openstack_emulator.alarming.rules.validation import invalid
from openstack_emulator.alarming.views import alarm_view
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.conversions import as_boolean

_SORTED = ("name", "alarm_id", "enabled", "state", "type", "severity", "project_id", "user_id", "description",
           "timestamp", "state_timestamp", "repeat_actions")  # fmt: skip
"""The fields by which a list can be sorted."""
_FILTERS = dict.fromkeys(
    ("name", "enabled", "state", "type", "severity", "project_id", "user_id", "timestamp", "repeat_actions",
     "all_projects"), ("eq",)
)  # fmt: skip
"""The fields of a list's conditions, and the operators that each can have."""


def index(service: Alarming, request: Request) -> Response:
    """The alarms of one project; of all with the condition `all_projects`, for administrators."""
    conditions = Conditions(request, _FILTERS)
    everywhere, project = as_boolean(conditions.value("all_projects")), conditions.value("project_id")
    alarms = service.alarms
    rows = alarms.listed_everywhere(request.context) if everywhere else alarms.listed(request.context, project)
    chosen = [alarm for alarm in rows if conditions.matches(alarm, field_of_alarm)]
    return Response([alarm_view(alarm) for alarm in paged(_sorted(chosen, request), request)])


def _sorted(rows: list[Alarm], request: Request) -> list[Alarm]:
    """The rows in the order of `sort=FIELD[:asc|desc]`, which can be repeated."""
    for sort_key in reversed(request.query.all("sort")):
        name, _, direction = sort_key.partition(":")
        if name not in _SORTED:
            raise invalid("sort", name, f"valid keys: {sorted(_SORTED)}")
        if direction not in ("", "asc", "desc"):
            raise invalid("sort", direction, "the direction must be asc or desc")
        rows.sort(key=lambda row: str(field_of_alarm(row, name)), reverse=direction == "desc")
    return rows


def search(service: Alarming, request: Request) -> Response:
    rows = found(service.alarms.listed(request.context), request, field_of_alarm)
    return Response([alarm_view(alarm) for alarm in rows])


def create(service: Alarming, request: Request) -> Response:
    body = request.json
    new_alarm = NewAlarm.from_json(body, request.context.is_admin)
    alarm = service.alarms.create(request, new_alarm, body.get("project_id"))
    service.evaluator.watch()
    shown = {**alarm_view(alarm), "evaluate_timestamp": alarm.timestamp}
    return Response(shown, 201, {"Location": f"{request.base}/v2/alarms/{alarm.id}"})


def _found(service: Alarming, request: Request) -> Alarm:
    return service.alarms.visible(request.context, request.vars["alarm_id"])


def show(service: Alarming, request: Request) -> Response:
    return Response(alarm_view(_found(service, request)))


def change(service: Alarming, request: Request) -> Response:
    alarm = _found(service, request)
    service.alarms.change(request, alarm, NewAlarm.from_json(request.json, request.context.is_admin))
    service.evaluator.watch()
    return Response(alarm_view(alarm))


def delete(service: Alarming, request: Request) -> Response:
    service.alarms.remove(_found(service, request), request.context)
    return Response(status=204)


def show_state(service: Alarming, request: Request) -> Response:
    return Response(_found(service, request).state)


def set_state(service: Alarming, request: Request) -> Response:
    alarm, state = _found(service, request), request.json
    if state not in STATES:
        raise bad_request("state invalid")
    service.alarms.set_state(alarm, state, MANUAL, {}, request.context)
    return Response(state)
