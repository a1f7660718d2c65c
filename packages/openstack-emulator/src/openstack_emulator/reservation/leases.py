"""Leases: their creation, change and deletion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.store import Record
from openstack_emulator.identity.service_trusts import end_trust, trust_for
from openstack_emulator.reservation.calendar import Calendar, Period
from openstack_emulator.reservation.dates import STAMP, minute, parse, read, written
from openstack_emulator.reservation.events import BEFORE_END, END, START, Events
from openstack_emulator.reservation.hosts import SERVICE_USER
from openstack_emulator.reservation.kinds import AddressShortage, Kind, missing

WARNING = timedelta(minutes=60)
"""The time from the default date of `before_end_lease` to the end of a lease."""
_LONGEST_NAME = 80


class Leases(Component):
    """Leases and what they are made of."""

    def __init__(self, records: Records, calendar: Calendar, kinds: Iterable[Kind], events: Events) -> None:
        super().__init__(records)
        self.rows = calendar.leases
        self.events = events
        self._calendar = calendar
        self._kinds: Mapping[str, Kind] = {kind.resource_type: kind for kind in kinds}

    def find(self, context: Context, key: str) -> Record:
        """Return a lease that the caller may see. Raises ApiError 403 for that of another project, and 404."""
        lease = self.rows.require(key)
        if not context.may_see(lease):
            raise forbidden("Policy doesn't allow blazar:leases:get to be performed")
        return lease

    def listed(self, context: Context) -> list[Record]:
        """Return the leases of the caller's project; all, for an administrator."""
        return list(self.rows) if context.is_admin else self.rows.select(project_id=context.project)

    def create(self, request: Request) -> Record:
        """Create the lease that a request describes. Raises ApiError: 400, 403, or 409 without enough resources."""
        given = request.json
        if not isinstance(given, dict):
            raise bad_request("The request body must be a JSON object.")
        if lacking := [name for name in ("start_date", "end_date", "name") if given.get(name) is None]:
            raise missing(", ".join(lacking))
        name, now = _name(given["name"]), self.records.now()
        start, end = parse(given["start_date"], now), parse(given["end_date"], now)
        if start < minute(now):
            raise bad_request("Start date must be later than current date")
        warning = _check_dates(start, end, given.get("before_end_date"), now)
        events = [_event(event, start, end, now) for event in _list(given.get("events") or [], "events")]
        lease = self._lease(request.context, name, start, end, warning)
        planned: list[tuple[Kind, Record, list[str]]] = []
        for one in _list(given.get("reservations") or [], "reservations"):
            others = tuple((wanted, resources) for _, wanted, resources in planned)
            planned.append(self._planned(one, Period(lease["start_date"], lease["end_date"], None, others)))
        lease["trust_id"], lease["_trust_is_new"] = trust_for(self.cloud, request, SERVICE_USER)
        self.rows.add(lease)
        for kind, wanted, resources in planned:
            self._reserve(lease, kind, wanted, resources)
        own = [(START, lease["start_date"]), (END, lease["end_date"]), (BEFORE_END, lease["before_end_date"])]
        self.events.schedule(lease, [*events, *own])
        return lease

    def _lease(self, context: Context, name: str, start: datetime, end: datetime, warning: datetime) -> Record:
        return {
            "id": new_id(),
            "name": name,
            "project_id": context.project,
            "user_id": context.user_id,
            "start_date": written(start),
            "end_date": written(end),
            "before_end_date": written(warning),
            "status": "PENDING",
            "degraded": False,
            "created_at": self.records.timestamp(STAMP),
            "updated_at": self.records.timestamp(STAMP),
        }

    def _planned(self, given: Any, period: Period) -> tuple[Kind, Record, list[str]]:
        """Return a reservation of a request: its kind, its fields, and the IDs of its resources. Raises ApiError."""
        if not isinstance(given, dict):
            raise bad_request("A reservation must be a JSON object.")
        if "resource_type" not in given:
            raise missing("resource_type")
        kind = self._kinds.get(str(given["resource_type"]))
        if kind is None:
            raise bad_request(f"The {given['resource_type']} resource type is not supported")
        wanted = {"resource_type": kind.resource_type, **kind.accept(given)}
        return kind, wanted, kind.choose(wanted, period, [])

    def _reserve(self, lease: Record, kind: Kind, wanted: Record, resources: list[str]) -> None:
        reservation = {
            "id": new_id(),
            "lease_id": lease["id"],
            "resource_id": new_id(),
            "status": "pending",
            "missing_resources": False,
            "resources_changed": False,
            "created_at": self.records.timestamp(STAMP),
            "updated_at": self.records.timestamp(STAMP),
            **wanted,
        }
        self._calendar.reservations.add(reservation)
        self._calendar.allocate(reservation, resources)
        kind.prepare(reservation, lease)

    def change(self, lease: Record, given: Any) -> None:
        """Change name, dates or reservations. Raises ApiError: 400, 403, or 409 without enough resources."""
        if not isinstance(given, dict):
            raise bad_request("The request body must be a JSON object.")
        name, now = _name(given.get("name") or lease["name"]), self.records.now()
        if given.keys() & {"start_date", "end_date", "before_end_date", "reservations"}:
            if lease["status"] not in ("PENDING", "ACTIVE"):
                raise bad_request("Terminated leases can only be renamed")
            self._reschedule(lease, given, now)
        self.rows.update(lease, name=name, updated_at=self.records.timestamp(STAMP))

    def _reschedule(self, lease: Record, given: Record, now: datetime) -> None:
        start = parse(given["start_date"], now) if given.get("start_date") else read(lease["start_date"])
        end = parse(given["end_date"], now) if given.get("end_date") else read(lease["end_date"])
        started = lease["status"] == "ACTIVE"
        if written(start) != lease["start_date"]:
            if started:
                raise bad_request("Cannot modify the start date of already started leases")
            if start < minute(now):
                raise bad_request("Start date must be later than current date")
        kept = max(start, end - (read(lease["end_date"]) - read(lease["before_end_date"])))
        warning = _check_dates(start, end, given.get("before_end_date"), now) if "before_end_date" in given else kept
        if end <= start or end < minute(now):
            raise bad_request("End date must be later than current and start date")
        dates = {"start_date": written(start), "end_date": written(end), "before_end_date": written(warning)}
        try:
            changes = self._changes(lease, given.get("reservations") or [], dates)
        except AddressShortage:  # Blazar keeps the reservation, but not the state of the lease.
            self.rows.update(lease, status="ERROR")
            raise
        self.rows.update(lease, **dates)
        for (kind, wanted, resources), reservation in zip(changes, self.reservations_of(lease), strict=True):
            changed = started and bool(set(resources) - set(self._calendar.resources_of(reservation)))
            moment = self.records.timestamp(STAMP)
            self._calendar.reservations.update(reservation, **wanted, updated_at=moment, resources_changed=changed)
            self._calendar.allocate(reservation, resources)
            if started:
                kind.start(reservation, lease)
        due = {START: dates["start_date"], END: dates["end_date"], BEFORE_END: dates["before_end_date"]}
        self.events.reschedule(lease, due)

    def _changes(self, lease: Record, given: Any, dates: Mapping[str, str]) -> list[tuple[Kind, Record, list[str]]]:
        """Return the lease's reservations as a request changes them: kinds, fields, IDs of the resources."""
        own = self.reservations_of(lease)
        wishes = _by_id(given, {reservation["id"] for reservation in own})
        planned = {one["id"]: (one, self._calendar.resources_of(one)) for one in own}
        changes = []
        for reservation in own:
            key, kind = reservation["id"], self._kinds[reservation["resource_type"]]
            wanted, (_, had) = self._changed(lease, reservation, wishes.get(key, {})), planned[key]
            others = tuple(plan for other, plan in planned.items() if other != key)
            chosen = kind.choose(wanted, Period(dates["start_date"], dates["end_date"], lease["id"], others), had)
            if lease["status"] == "ACTIVE" and not set(had) <= set(chosen):
                raise conflict("Not enough resources available: those in use cannot be kept.")
            planned[key] = (wanted, chosen)
            changes.append((kind, wanted, chosen))
        return changes

    def _changed(self, lease: Record, reservation: Record, wish: Record) -> Record:
        """Return the fields of a reservation that a request changes. Raises ApiError."""
        kind = self._kinds[reservation["resource_type"]]
        if wish.get("resource_type", kind.resource_type) != kind.resource_type:
            raise bad_request("The resource type of a reservation cannot be changed.")
        wanted = kind.accept({**reservation, **wish})
        if "flavor_id" in reservation and any(wanted[name] != reservation[name] for name in wanted):
            raise conflict(f"The flavor of the reservation {reservation['id']} exists: only dates can be changed.")
        return {"resource_type": kind.resource_type, **wanted}

    def remove(self, lease: Record) -> None:
        """End a lease if it has not ended, and delete it."""
        self.finish(lease)
        self.events.forget(lease)
        for reservation in self.reservations_of(lease):
            self._calendar.reservations.remove(reservation)
        self.rows.remove(lease)
        if lease["_trust_is_new"]:
            end_trust(self.cloud, lease["trust_id"])

    def begin(self, lease: Record) -> None:
        """Let the project use what is reserved. Raises ApiError if a resource cannot be had."""
        for reservation in self.reservations_of(lease):
            self._kinds[reservation["resource_type"]].start(reservation, lease)
            self._set_status(reservation, "active")
        self.rows.update(lease, status="ACTIVE")

    def warn(self, lease: Record) -> None:
        """Do what reservations want done before the end."""
        for reservation in self.reservations_of(lease):
            if reservation["status"] == "active":
                self._kinds[reservation["resource_type"]].warn(reservation, lease)

    def finish(self, lease: Record) -> None:
        """End the reservations of a lease."""
        for reservation in self.reservations_of(lease):
            if reservation["status"] != "deleted":
                self._kinds[reservation["resource_type"]].end(reservation, lease)
                self._calendar.allocate(reservation, [])
                self._set_status(reservation, "deleted")
        if lease["status"] != "ERROR":
            self.rows.update(lease, status="TERMINATED")

    def fail(self, lease: Record) -> None:
        """Note that a lease could not begin."""
        for reservation in self.reservations_of(lease):
            if reservation["status"] == "pending":
                self._set_status(reservation, "error")
        self.rows.update(lease, status="ERROR")

    def reservations_of(self, lease: Record) -> list[Record]:
        """Return the reservations of a lease."""
        return self._calendar.reservations.select(lease_id=lease["id"])

    def _set_status(self, reservation: Record, status: str) -> None:
        moment = self.records.timestamp(STAMP)
        self._calendar.reservations.update(reservation, status=status, updated_at=moment)


def _name(given: Any) -> str:
    if not isinstance(given, str) or not given or len(given) > _LONGEST_NAME:
        raise bad_request(f"The name of a lease must be a string of 1 to {_LONGEST_NAME} characters.")
    return given


def _list(given: Any, name: str) -> list[Any]:
    if not isinstance(given, list):
        raise bad_request(f"{name} must be a list.")
    return given


def _check_dates(start: datetime, end: datetime, before_end: Any, now: datetime) -> datetime:
    """Return the date of `before_end_lease`. Raises ApiError."""
    _check_end(start, end, now)
    if before_end is None:
        return max(start, end - WARNING)
    moment = parse(before_end, now)
    _require_within(moment, start, end)
    return moment


def _check_end(start: datetime, end: datetime, now: datetime) -> None:
    """Refuse an end in the past, or not after the start. Raises ApiError 400."""
    if end <= start:
        raise bad_request("End date must be later than start date.")
    if end < minute(now):
        raise bad_request("End date must not be earlier than current date.")


def _event(given: Any, start: datetime, end: datetime, now: datetime) -> tuple[str, str]:
    """Return the type and date of an event that a request asks for. Raises ApiError."""
    if not isinstance(given, dict) or not isinstance(given.get("event_type"), str):
        raise bad_request("An event must be a JSON object with event_type and time.")
    moment = parse(given.get("time"), now)
    _require_within(moment, start, end)
    return given["event_type"], written(moment)


def _require_within(moment: datetime, start: datetime, end: datetime) -> None:
    if not start <= moment <= end:
        raise forbidden("Datetime is out of lease limits")


def _by_id(given: Any, known: set[str]) -> dict[str, Record]:
    """Return the reservations of a request by ID. Raises ApiError 400 for one that the lease does not have."""
    found: dict[str, Record] = {}
    for one in _list(given, "reservations"):
        if not isinstance(one, dict) or one.get("id") is None:
            raise missing("reservation ID")
        found[str(one["id"])] = one
    if unknown := found.keys() - known:
        listed = ",".join(sorted(unknown))
        raise bad_request(f"Please enter valid reservation IDs. Invalid reservation IDs are: {listed}")
    return found
