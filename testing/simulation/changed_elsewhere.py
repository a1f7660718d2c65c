"""Change each property of each resource type behind the engine's back, and see whether drift detection finds it.

Run as a program: `python -m testing.simulation.changed_elsewhere [TYPE …]`, by default for all types. Each set of
resources of `lost_answers.yaml` is created. There must be no drift then, nor a day later, in which another stack
has come and gone; stacks of different services have that day together, and one of its own whatever has a problem then.
Each property that the template sets, and whose live value the type says it compares, gets another value by the requests
that its update in place makes to the service, unknown to the engine: the resource must then be reported as modified,
with that property. At the end, one JSON line per type is printed; `changes` names each property with the outcome:
`found`, or why it could not be changed.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stoker.base.errors import StokerError
from stoker.engine.calls.building import make_read_call
from stoker.engine.core import Engine
from stoker.engine.inspection.stack_reader import Reader
from stoker.engine.records.stack_view import view_of
from stoker.plugins import capabilities
from stoker.plugins.live_values import has_object, live_values
from stoker.plugins.outcome import Done, InProgress
from stoker.plugins.resource import Call, ResourceType
from stoker.schema.constraints import AllowedValues
from stoker.schema.property import Change, Finalizer, Property, Type
from stoker.store import queries
from testing.simulation.cases import THING, template
from testing.simulation.lost_answers import SETTLED, FaultTestbed, main, report

FOUND = "found"
OTHERS: Mapping[tuple[str, str], Sequence[Any]] = {
    # Services take an empty list for no change.
    ("OS::Designate::RecordSet", "records"): (["192.0.2.2"], ['"v=spf1 ~all"']),
    ("OS::Designate::Zone", "primaries"): (["192.0.2.54"],),
    # The template gives a subnet only: one address is as good as another, but a second one is not.
    ("OS::Neutron::Port", "fixed_ips"): ([{"ip_address": "10.50.0.77"}, {"ip_address": "10.50.0.78"}],),
    # The values are for executions; the service has only the names.
    ("OS::Mistral::Workflow", "input"): ({"added": "input"},),
    # The declarations do not say which values services accept.
    ("AWS::EC2::Instance", "InstanceType"): ("m1.small",),
    ("OS::Aodh::GnocchiAggregationByMetricsAlarm", "aggregation_method"): ("sum",),
    ("OS::Aodh::GnocchiAggregationByResourcesAlarm", "aggregation_method"): ("sum",),
    ("OS::Aodh::GnocchiAggregationByResourcesAlarm", "query"): ('{"=": {"server_group": "other"}}',),
    ("OS::Aodh::GnocchiResourcesAlarm", "aggregation_method"): ("sum",),
    ("OS::Cinder::QoSSpecs", "specs"): ({"consumer": "both", "read_iops_sec": "900"},),
    ("OS::Ironic::Port", "address"): ("52:54:00:4b:2e:99",),
    ("OS::Neutron::IKEPolicy", "lifetime"): ({"units": "seconds", "value": 9000},),
    ("OS::Neutron::RBACPolicy", "target_tenant"): ("0d1f0a6e8c1b4b7f9d3a2e6c4b8f7a90",),
    ("OS::Nova::Server", "flavor"): ("m1.small",),
    ("OS::Octavia::AvailabilityZoneProfile", "availability_zone_data"): ('{"compute_zone": "other"}',),
    ("OS::Octavia::FlavorProfile", "flavor_data"): ('{"loadbalancer_topology": "ACTIVE_STANDBY"}',),
    **{(f"OS::Octavia::{kind}Profile", "provider_name"): ("octavia",) for kind in ("AvailabilityZone", "Flavor")},
}
"""Other values of properties, by type and name, in place of those that follow from the declarations."""
_MOST_STEPS = 200
DAY_SECONDS = 86_400.0
DAYS = 12
"""The number of days among which the stacks are divided.

Those of the same type, and of types whose names are alike, have different ones: their objects often have the same name.
What has a problem has another day without the others: they may have what only one can have, as a host without servers.
"""
NEIGHBOR = {"name": "neighbor", "id": None}
BUSY = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "net": {"type": "OS::Neutron::Net"},
        "port": {"type": "OS::Neutron::Port", "properties": {"network": {"get_resource": "net"}}},
        "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
    },
}
"""What another stack of the project creates and deletes in the course of a day."""


@dataclass(slots=True)
class Case:
    """A stack of a type, and what is found out about it.

    `status` is that of its thing in a detection of drift right after the creation, None without one; `changes` are the
    outcomes of changes.
    """

    type_name: str
    number: int
    template: dict[str, Any]
    status: str | None = None
    changes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def stack_name(self) -> str:
        return f"case-{self.type_name.replace('::', '-')}-{self.number}"


class InterferenceTestbed(FaultTestbed):
    """Changes what a testbed creates."""

    async def _all_types(self, cases_by_type: Mapping[str, Any]) -> None:
        all_cases = [
            Case(name, number, template(name, case))
            for name, cases in cases_by_type.items()
            for number, case in enumerate(cases)
        ]
        for day in range(DAYS):
            await self._pass_day(all_cases[day::DAYS])
            gc.freeze()  # the tasks of engines are kept until the end, and need not be searched for garbage
        for place, case in enumerate(all_cases):
            if case.problems:
                all_cases[place] = alone = Case(case.type_name, case.number, case.template)
                await self._pass_day([alone])
        for name in cases_by_type:
            cases = [case for case in all_cases if case.type_name == name]
            problems = [problem for case in cases for problem in case.problems]
            report(name, [case.changes for case in cases], problems, sum(case.seconds for case in cases))

    async def _pass_day(self, cases: Sequence[Case]) -> None:
        """Create the stacks of some cases, let a day pass, and change what they have created."""
        for case in cases:
            with self._turn_of(case):
                await self._create(case)
        for self.engines.user in sorted({self._user_for(case.type_name) for case in cases}):
            await self._meet_neighbor()
        for case in cases:
            with self._turn_of(case):
                await self._interfere(case)
                await self._delete()

    @contextmanager
    def _turn_of(self, case: Case) -> Iterator[None]:
        """Make requests for the stack of a case, and count the processor time that they take."""
        began = time.process_time()
        self.ref, self.engines.user = {"name": case.stack_name, "id": None}, self._user_for(case.type_name)
        yield
        case.seconds += time.process_time() - began

    async def _create(self, case: Case) -> None:
        made = await self._make(case.template)
        if made["state"].split()[1] != "COMPLETE":
            case.problems.append(f"not created: {made['state']}")
        elif has_object(self.engines.registry.types[case.type_name]):
            found = await self._drift()
            case.status = found["status"]
            if found["status"] in ("MODIFIED", "DELETED"):
                case.problems.append(f"{found['status']} right after the creation: {found['differences']}")

    async def _interfere(self, case: Case) -> None:
        """Look at a stack a day later, then change its properties."""
        if case.status is None:
            return
        later = await self._drift()
        if later["status"] != case.status:
            case.problems.append(f"{later['status']} a day later: {later['differences']} {later['reason']}")
        kind = self.engines.registry.types[case.type_name]
        properties, known = case.template["resources"][THING].get("properties", {}), live_values(kind)
        for name, prop in kind.properties.items():
            if name in properties and known[name].is_compared:
                outcome = await self._changed(kind, name, prop)
                case.changes.append(f"{name}: {outcome}")
                if outcome.startswith("missed"):
                    case.problems.append(case.changes[-1])

    async def _meet_neighbor(self) -> None:
        """Let a day pass, in which another stack of the project comes and goes."""
        self.loop.clock.advance(DAY_SECONDS / 2)
        await self.engines.call("stack_create", name=NEIGHBOR["name"], template=BUSY, files={})
        await self._wait_until_idle()
        await self.engines.call("stack_delete", ref=NEIGHBOR)
        await self._wait_until_idle()
        self.loop.clock.advance(DAY_SECONDS / 2)
        await asyncio.sleep(SETTLED)

    async def _changed(self, kind: ResourceType, name: str, prop: Property) -> str:
        """Change a property to the first value that its service accepts, and return the outcome."""
        if prop.change is not Change.UPDATE:
            return "cannot be changed in place"
        outcome = "no other value is known"
        for value in other_values(prop, (await self._call()).properties[name], OTHERS.get((kind.type_name, name), [])):
            call = await self._call()
            after = {**call.properties, name: value}
            if _is_replaced(kind, call.properties, after, {name: value}):
                outcome = "this change needs a replacement"
            elif why := await _updated(kind, call, after, name):
                outcome = f"the change was refused: {why}"
            else:
                return await self._noticed(kind, name, after)
        return outcome

    async def _noticed(self, kind: ResourceType, name: str, after: Mapping[str, Any]) -> str:
        """Return what drift detection says about a changed property, and change it back."""
        report = await self._drift()
        back = await self._call()
        before, back.properties = back.properties, after
        await _updated(kind, back, before, name)
        if name in {each["path"][0] for each in report["differences"]}:
            return FOUND
        if report["status"] == "UNKNOWN" and name in report["reason"]:
            return f"could not be read: {report['reason']}"
        return f"missed: {report['status']} {report['reason']}"

    async def _drift(self) -> dict[str, Any]:
        return dict(await self.engines.call("drift_detect_resource", ref=self.ref, name=THING))

    async def _call(self) -> Call:
        """Return a call for the thing as it is recorded."""
        engine: Engine = next(member.engine for member in self.engines.members if member.up)
        shown = await self.engines.call("stack_show", ref=self.ref)
        stack = await engine.services.database.read(queries.stack_by_id, shown["id"])
        assert stack is not None
        view = await view_of(engine.services, stack)
        return await make_read_call(view, view.current[THING], Reader(engine.services))


def _is_replaced(
    kind: ResourceType, before: Mapping[str, Any], after: Mapping[str, Any], changed: Mapping[str, Any]
) -> bool:
    """Return whether a change needs a replacement although its property could be changed in place."""
    if not isinstance(kind, capabilities.ConditionallyReplaced):
        return False
    return kind.replacement_reason(before, after, changed) is not None


async def _updated(kind: ResourceType, call: Call, after: Mapping[str, Any], name: str) -> str:
    """Update the object in place; return why it was refused, empty if it was not."""
    call.previous, call.properties, call.progress = call.properties, after, {}
    call.changed = {name: after[name]}
    for _ in range(_MOST_STEPS):
        try:
            outcome = await kind.update(call)
        except (StokerError, AttributeError) as error:
            return f"{type(error).__name__}: {error}"
        if isinstance(outcome, Done):
            return ""
        if not isinstance(outcome, InProgress):
            return outcome.reason
        await asyncio.sleep(outcome.after or 1.0)
    return "it does not end"


def other_values(prop: Property, value: Any, known: Sequence[Any] = ()) -> list[Any]:
    """Return other valid values, the `known` ones or else those that need no knowledge of the property."""
    return [other for other in known or _candidates(prop, value) if other != value and _is_valid(prop, other)]


def _candidates(prop: Property, value: Any) -> list[Any]:
    allowed = [each for rule in prop.constraints if isinstance(rule, AllowedValues) for each in rule.values]
    if allowed and prop.type is not Type.LIST:
        return allowed
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1, value - 1]
        case str():
            return [] if prop.resolve else [f"{value}x"]
        case list():
            return [value[:-1]] if value else []
        case Mapping() if prop.schema is None:
            return [{**value, key: f"{inner}x"} for key, inner in value.items() if isinstance(inner, str)]
        case Mapping():
            inner = {key: other_values(each, value[key]) for key, each in (prop.schema or {}).items() if value.get(key)}
            return [{**value, key: other} for key, others in inner.items() for other in others]
    return []


def _is_valid(prop: Property, value: Any) -> bool:
    finalizer = Finalizer()
    finalizer.value(prop, value, ())
    return not finalizer.problems


if __name__ == "__main__":
    main(*sys.argv[1:], testbed=InterferenceTestbed)
