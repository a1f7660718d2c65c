"""Routes of the history of alarms."""

from __future__ import annotations

from openstack_emulator.alarming.records import HistoryEntry
from openstack_emulator.alarming.routes.lists import Conditions, field_of_entry, found, paged
from openstack_emulator.alarming.rules.composition import Alarming
from openstack_emulator.alarming.views import entry_view
from openstack_emulator.core.http import Context, Request, Response

_FILTERS = {
    **dict.fromkeys(("id", "alarm_id", "type", "severity", "user_id", "project_id", "on_behalf_of"), ("eq",)),
    "timestamp": ("eq", "lt", "le", "gt", "ge"),
}
"""The fields of a list's conditions, and the operators that each can have."""


def _may_see(context: Context, entry: HistoryEntry) -> bool:
    return context.is_admin or entry.on_behalf_of == context.project_id


def show(service: Alarming, request: Request) -> Response:
    """The history of an alarm, the latest entry first; of a deleted alarm too."""
    key, context = request.vars["alarm_id"], request.context
    conditions = Conditions(request, _FILTERS)
    entries = [
        entry
        for entry in reversed(service.alarms.history.select(alarm_id=key))
        if _may_see(context, entry) and conditions.matches(entry, field_of_entry)
    ]
    if not entries:
        service.alarms.visible(context, key)
    return Response([entry_view(entry) for entry in paged(entries, request)])


def search(service: Alarming, request: Request) -> Response:
    rows = [entry for entry in service.alarms.history if _may_see(request.context, entry)]
    return Response([entry_view(entry) for entry in found(rows, request, field_of_entry)])
