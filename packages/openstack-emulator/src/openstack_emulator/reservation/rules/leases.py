"""Leases: their creation, change and deletion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.rules import Rules
from openstack_emulator.identity.rules.service_trusts import end_trust, trust_for
from openstack_emulator.reservation.records import Lease, Reservation
from openstack_emulator.reservation.rules.calendar import Calendar, Period
from openstack_emulator.reservation.rules.dates import STAMP, minute, parse, read, written
from openstack_emulator.reservation.rules.events import BEFORE_END, END, START, Events
from openstack_emulator.reservation.rules.hosts import SERVICE_USER
from openstack_emulator.reservation.rules.kinds import AddressShortage, ReservationKind, missing_parameter

WARNING = timedelta(minutes=60)
"""The time from the default date of `before_end_lease` to the end of a lease."""
_LONGEST_NAME = 80


_NONE = object()


@dataclass(frozen=True)
class _Plan:
    """A reservation as it is to be, and the IDs of its resources."""

    kind: ReservationKind
    reservation: Reservation
    resources: list[str]


class Leases(Rules):
    """Leases and what they are made of."""

    def __init__(self, records: Records, calendar: Calendar, kinds: Iterable[ReservationKind], events: Events) -> None:
        super().__init__(records)
        self.rows = calendar.leases
        self.events = events
        self._calendar = calendar
        self._kinds: Mapping[str, ReservationKind] = {kind.resource_type: kind for kind in kinds}

    def find(self, context: Context, key: str) -> Lease:
        """Return a lease that the caller may see. Raises ApiError 403 for that of another project, and 404."""
        lease = self.rows.require(key)
        if not context.may_see(lease):
            raise forbidden("Policy doesn't allow blazar:leases:get to be performed")
        return lease

    def listed(self, context: Context) -> list[Lease]:
        """Return the leases of the caller's project; all, for an administrator."""
        return list(self.rows) if context.is_admin else self.rows.select(project_id=context.project)

    def create(self, request: Request) -> Lease:
        """Create the lease that a request describes. Raises ApiError: 400, 403, or 409 without enough resources."""
        body = request.json
        if not isinstance(body, dict):
            raise bad_request("The request body must be a JSON object.")
        if lacking := [name for name in ("start_date", "end_date", "name") if body.get(name) is None]:
            raise missing_parameter(", ".join(lacking))
        name, now = _name(body.get("name")), self.records.now()
        start, end = parse(body.get("start_date"), now), parse(body.get("end_date"), now)
        if start < minute(now):
            raise bad_request("Start date must be later than current date")
        warning = _check_dates(start, end, body.get("before_end_date"), now)
        events = [_event(event, start, end, now) for event in _list(body.get("events") or [], "events")]
        lease = self._lease(request.context, name, start, end, warning)
        planned: list[_Plan] = []
        for reservation in _list(body.get("reservations") or [], "reservations"):
            others = tuple((plan.reservation, plan.resources) for plan in planned)
            planned.append(self._planned(lease, reservation, Period(lease.start_date, lease.end_date, None, others)))
        lease.trust_id, lease.trust_is_new = trust_for(self.cloud, request, SERVICE_USER)
        self.rows.add(lease)
        for plan in planned:
            self._calendar.reservations.add(plan.reservation)
            self._calendar.allocate(plan.reservation, plan.resources)
            plan.kind.prepare(plan.reservation, lease)
        own = [(START, lease.start_date), (END, lease.end_date), (BEFORE_END, lease.before_end_date)]
        self.events.schedule(lease, [*events, *own])
        return lease

    def _lease(self, context: Context, name: str, start: datetime, end: datetime, warning: datetime) -> Lease:
        return Lease(
            id=new_id(),
            name=name,
            project_id=context.project,
            user_id=context.user_id,
            start_date=written(start),
            end_date=written(end),
            before_end_date=written(warning),
            status="PENDING",
            degraded=False,
            created_at=self.records.timestamp(STAMP),
            updated_at=self.records.timestamp(STAMP),
            trust_id="",
            trust_is_new=False,
        )

    def _planned(self, lease: Lease, entry: object, period: Period) -> _Plan:
        """Return a reservation that a request wants. Raises ApiError."""
        if not isinstance(entry, dict):
            raise bad_request("A reservation must be a JSON object.")
        if (named := entry.get("resource_type", _NONE)) is _NONE:
            raise missing_parameter("resource_type")
        kind = self._kinds.get(str(named))
        if kind is None:
            raise bad_request(f"The {named} resource type is not supported")
        reservation_after = Reservation(
            id=new_id(),
            lease_id=lease.id,
            resource_id=new_id(),
            resource_type=kind.resource_type,
            status="pending",
            missing_resources=False,
            resources_changed=False,
            created_at=self.records.timestamp(STAMP),
            updated_at=self.records.timestamp(STAMP),
            **kind.accept(entry),
        )
        return _Plan(kind, reservation_after, kind.choose(reservation_after, period, []))

    def change(self, lease: Lease, body: Any) -> None:
        """Change name, dates or reservations. Raises ApiError: 400, 403, or 409 without enough resources."""
        if not isinstance(body, dict):
            raise bad_request("The request body must be a JSON object.")
        name, now = _name(body.get("name") or lease.name), self.records.now()
        if body.keys() & {"start_date", "end_date", "before_end_date", "reservations"}:
            if lease.status not in ("PENDING", "ACTIVE"):
                raise bad_request("Terminated leases can only be renamed")
            self._reschedule(lease, body, now)
        lease.name, lease.updated_at = name, self.records.timestamp(STAMP)
        self.rows.save(lease)

    def _reschedule(self, lease: Lease, body: Mapping[str, object], now: datetime) -> None:
        start, end, warning = _new_dates(lease, body, now)
        period = Period(written(start), written(end), lease.id)
        started = lease.status == "ACTIVE"
        try:
            plans = self._changes(lease, body.get("reservations") or [], period)
        except AddressShortage:  # Blazar keeps the reservation, but not the state of the lease.
            lease.status = "ERROR"
            self.rows.save(lease)
            raise
        lease.start_date, lease.end_date, lease.before_end_date = period.start, period.end, written(warning)
        self.rows.save(lease)
        for plan, reservation in zip(plans, self.reservations_of(lease), strict=True):
            changed = started and bool(set(plan.resources) - set(self._calendar.resources_of(reservation)))
            self._calendar.reservations.update(
                reservation,
                **{name: plan.reservation.get(name) for name in plan.kind.fields},
                extra_specs=plan.reservation.extra_specs,
                updated_at=self.records.timestamp(STAMP),
                resources_changed=changed,
            )
            self._calendar.allocate(reservation, plan.resources)
            if started:
                plan.kind.start(reservation, lease)
        self.events.reschedule(lease, {START: lease.start_date, END: lease.end_date, BEFORE_END: lease.before_end_date})

    def _changes(self, lease: Lease, entries: object, period: Period) -> list[_Plan]:
        """Return the lease's reservations as a request changes them."""
        own = self.reservations_of(lease)
        wishes = _by_id(entries, {reservation.id for reservation in own})
        planned = {reservation.id: (reservation, self._calendar.resources_of(reservation)) for reservation in own}
        changes = []
        for reservation in own:
            key, kind = reservation.id, self._kinds[reservation.resource_type]
            reservation_after, (_, previous) = self._changed(reservation, wishes.get(key, {})), planned[key]
            others = tuple(plan for other, plan in planned.items() if other != key)
            chosen = kind.choose(reservation_after, replace(period, planned=others), previous)
            if lease.status == "ACTIVE" and not set(previous) <= set(chosen):
                raise conflict("Not enough resources available: those in use cannot be kept.")
            planned[key] = (reservation_after, chosen)
            changes.append(_Plan(kind, reservation_after, chosen))
        return changes

    def _changed(self, reservation: Reservation, wish: Mapping[str, object]) -> Reservation:
        """Return a reservation as a request changes it. Raises ApiError."""
        kind = self._kinds[reservation.resource_type]
        if wish.get("resource_type", kind.resource_type) != kind.resource_type:
            raise bad_request("The resource type of a reservation cannot be changed.")
        own = {name: reservation.get(name) for name in kind.fields}
        reservation_after = replace(reservation, **kind.accept({**own, **wish}))
        if reservation.flavor_id is not None and reservation_after.to_json() != reservation.to_json():
            raise conflict(f"The flavor of the reservation {reservation.id} exists: only dates can be changed.")
        return reservation_after

    def remove(self, lease: Lease) -> None:
        """End a lease if it has not ended, and delete it."""
        self.finish(lease)
        self.events.forget(lease)
        for reservation in self.reservations_of(lease):
            self._calendar.reservations.remove(reservation)
        self.rows.remove(lease)
        if lease.trust_is_new:
            end_trust(self.cloud, lease.trust_id)

    def begin(self, lease: Lease) -> None:
        """Let the project use what is reserved. Raises ApiError if a resource cannot be had."""
        for reservation in self.reservations_of(lease):
            self._kinds[reservation.resource_type].start(reservation, lease)
            self._set_status(reservation, "active")
        lease.status = "ACTIVE"
        self.rows.save(lease)

    def warn(self, lease: Lease) -> None:
        """Do what reservations want done before the end."""
        for reservation in self.reservations_of(lease):
            if reservation.status == "active":
                self._kinds[reservation.resource_type].warn(reservation, lease)

    def finish(self, lease: Lease) -> None:
        """End the reservations of a lease."""
        for reservation in self.reservations_of(lease):
            if reservation.status != "deleted":
                self._kinds[reservation.resource_type].end(reservation, lease)
                self._calendar.allocate(reservation, [])
                self._set_status(reservation, "deleted")
        if lease.status != "ERROR":
            lease.status = "TERMINATED"
            self.rows.save(lease)

    def fail(self, lease: Lease) -> None:
        """Note that a lease could not begin."""
        for reservation in self.reservations_of(lease):
            if reservation.status == "pending":
                self._set_status(reservation, "error")
        lease.status = "ERROR"
        self.rows.save(lease)

    def reservations_of(self, lease: Lease) -> list[Reservation]:
        """Return the reservations of a lease."""
        return self._calendar.reservations.select(lease_id=lease.id)

    def kind_of(self, reservation: Reservation) -> ReservationKind:
        """Return the kind of a reservation."""
        return self._kinds[reservation.resource_type]

    def _set_status(self, reservation: Reservation, status: str) -> None:
        reservation.status, reservation.updated_at = status, self.records.timestamp(STAMP)
        self._calendar.reservations.save(reservation)


def _new_dates(lease: Lease, body: Mapping[str, object], now: datetime) -> tuple[datetime, datetime, datetime]:
    """Return the dates that a lease is to have: the start, the end, and that before the end. Raises ApiError."""
    start = parse(body.get("start_date"), now) if body.get("start_date") else read(lease.start_date)
    end = parse(body.get("end_date"), now) if body.get("end_date") else read(lease.end_date)
    if written(start) != lease.start_date:
        if lease.status == "ACTIVE":
            raise bad_request("Cannot modify the start date of already started leases")
        if start < minute(now):
            raise bad_request("Start date must be later than current date")
    default_warning = max(start, end - (read(lease.end_date) - read(lease.before_end_date)))
    warning = (
        _check_dates(start, end, body.get("before_end_date"), now) if "before_end_date" in body else default_warning
    )
    if end <= start or end < minute(now):
        raise bad_request("End date must be later than current and start date")
    return start, end, warning


def _name(name: object) -> str:
    if not isinstance(name, str) or not name or len(name) > _LONGEST_NAME:
        raise bad_request(f"The name of a lease must be a string of 1 to {_LONGEST_NAME} characters.")
    return name


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise bad_request(f"{name} must be a list.")
    return value


def _check_dates(start: datetime, end: datetime, before_end: object, now: datetime) -> datetime:
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


def _event(body: object, start: datetime, end: datetime, now: datetime) -> tuple[str, str]:
    """Return the type and date of an event that a request asks for. Raises ApiError."""
    if not isinstance(body, dict) or not isinstance(body.get("event_type"), str):
        raise bad_request("An event must be a JSON object with event_type and time.")
    moment = parse(body.get("time"), now)
    _require_within(moment, start, end)
    return str(body.get("event_type")), written(moment)


def _require_within(moment: datetime, start: datetime, end: datetime) -> None:
    if not start <= moment <= end:
        raise forbidden("Datetime is out of lease limits")


def _by_id(entries: object, known: set[str]) -> dict[str, Mapping[str, Any]]:
    """Return the reservations of a request by ID. Raises ApiError 400 for one that the lease does not have."""
    found: dict[str, Mapping[str, Any]] = {}
    for reservation in _list(entries, "reservations"):
        if not isinstance(reservation, dict) or reservation.get("id") is None:
            raise missing_parameter("reservation ID")
        found[str(reservation.get("id"))] = reservation
    if unknown := found.keys() - known:
        listed = ",".join(sorted(unknown))
        raise bad_request(f"Please enter valid reservation IDs. Invalid reservation IDs are: {listed}")
    return found
