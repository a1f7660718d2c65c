"""A resource type of Stoker for a class that is derived from that of one of Stoker's own types.

Actions that the plug-in does not extend are those of the own type. For the others, the plug-in's handlers run on a
thread, and what they ask for with `super()` is carried out by the own type's method, one step with each call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from stoker.cloud.session import Cloud
from stoker.plugins import capabilities
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, Call, Graph, Node, ResourceType, Snapshot, Sources
from stoker.schema.property import Finalizer, Property, Traits
from stoker_heat_plugins.built_in import BuiltIn
from stoker_heat_plugins.credentials import Bridge
from stoker_heat_plugins.performance import RUNNING, Performance, Request
from stoker_heat_plugins.record import GIVEN, GIVEN_SECRETS, NO_ID, REFERENCE, SECRETS, Record
from stoker_heat_plugins.resource_type import Arguments, HeatResourceType

OWN_PROGRESS, _BEGUN, _ENDED, _UPDATE = "built_in", "built_in_begun", "built_in_ended", "built_in_update"
"""Keys of `Call.progress`: the own type's progress, whether its action has begun and ended, and what it updates."""

_REFERENCES = ("FnGetRefId", "get_reference_id")
_WITH_VALUES = (*_REFERENCES, "translation_rules")
_EXTENDS: Mapping[str, tuple[str, ...]] = {
    "create": _WITH_VALUES,
    "adopt": _WITH_VALUES,
    "update": (*_WITH_VALUES, "needs_replace", "needs_replace_with_prop_diff"),
}
"""Methods besides the handler and its check with which a plug-in extends an action."""
_READS = ("_resolve_attribute", "_show_resource", "get_attribute", "FnGetAtt")


class DerivedType(HeatResourceType):
    """Derived classes are made by `made_derived`, and derive from `kind`, the own type, too."""

    kind: ClassVar[type[ResourceType]]
    whole: ClassVar[Mapping[str, Property]]
    """The properties of `kind`, before it is configured."""

    def __init__(self) -> None:
        self.own = self.kind()

    def configure(self, options: Mapping[str, object]) -> None:
        self.own.configure(options)
        self.physical_name_limit = self.own.physical_name_limit
        self.redacted_data = self.own.redacted_data | {SECRETS, GIVEN_SECRETS}
        self.properties = {
            name: self.own.properties[name] if declared is self.whole.get(name) else declared
            for name, declared in type(self).properties.items()
        }

    # -- what the own type gets ---------------------------------------------------------------------------------

    def _call(self, call: Call) -> Call:
        """Return the call for the own type's methods."""
        properties = _set_by_handlers(call)
        update = call.progress.get(_UPDATE) or {"before": properties, "changed": call.changed}
        return replace(
            call,
            physical_id=None if call.data.get(NO_ID) else call.physical_id,
            properties=_values(self.own, call.properties, properties),
            previous=None if call.previous is None else _values(self.own, call.previous, update["before"]),
            changed={name: value for name, value in update["changed"].items() if name in self.own.properties},
            progress=call.progress.get(OWN_PROGRESS, {}),
        )

    def _prepare(self, call: Call, action: str, request: Request | None) -> None:
        """Record the values that a plug-in's handler has set; without a request, there is none."""
        if call.progress.get(_BEGUN):
            return
        call.progress[_BEGUN] = True
        call.progress[OWN_PROGRESS] = {}
        before = _set_by_handlers(call)
        if action == "update":
            changed = dict(call.changed) if request is None else dict(request.changed or {})
            call.progress[_UPDATE] = {"before": before, "changed": changed}
            kept = {name: value for name, value in before.items() if name not in call.changed}
            _give(self.own, call, {**kept, **changed})
        elif action == "create":
            _give(self.own, call, {} if request is None else request.values)

    async def _pass(self, method: str, call: Call, *arguments: object) -> Any:
        """Call a method of the own type."""
        passed = self._call(call)
        try:
            asked = getattr(capabilities, method, None) or getattr(type(self.own), method)
            return await asked(self.own, passed, *arguments)
        finally:
            call.metadata = passed.metadata
            call.physical_id = call.physical_id or passed.physical_id

    # -- actions ------------------------------------------------------------------------------------------------

    def extends(self, *methods: str) -> bool:
        """Return whether the plug-in overrides one of some methods of the class that it derives from."""
        return any(
            getattr(self.plugin, name, None) is not getattr(self.plugin.own_class, name, None) for name in methods
        )

    async def _take(self, call: Call, action: str, extended: Callable[[Call], Any]) -> Outcome:
        """Take a step of an action: that of the plug-in if it extends it, else that of the own type."""
        if self.extends(f"handle_{action}", f"check_{action}_complete", *_EXTENDS.get(action, ())):
            outcome: Outcome = await extended(call)
            return outcome
        self._prepare(call, action, None)
        outcome = await self._pass(action, call)
        return outcome

    async def create(self, call: Call) -> Outcome:
        return await self._take(call, "create", super().create)

    async def update(self, call: Call) -> Outcome:
        return await self._take(call, "update", super().update)

    async def delete(self, call: Call) -> Outcome:
        return await self._take(call, "delete", super().delete)

    async def suspend(self, call: Call) -> Outcome:
        return await self._take(call, "suspend", super().suspend)

    async def resume(self, call: Call) -> Outcome:
        return await self._take(call, "resume", super().resume)

    async def adopt(self, call: Call) -> Outcome:
        return await self._take(call, "adopt", super().adopt)

    async def check(self, call: Call) -> Outcome:
        return await self._take(call, "check", partial(self._act, action="check"))

    async def cancel(self, call: Call, why: str) -> None:
        await super().cancel(call, why)
        await self._pass("cancel", call, why)

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        outcome: Outcome = await self._pass("prepare_for_replacement", call)
        return outcome

    async def revert_replacement(self, call: Call) -> Outcome:
        outcome: Outcome = await self._pass("revert_replacement", call)
        return outcome

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        if self.extends("needs_replace_failed"):
            return await super().needs_replacement_after_failure(call)
        return bool(await self._pass("needs_replacement_after_failure", call))

    # -- reading, checks and decisions --------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        if self.extends(*_READS):
            return await super().read_attributes(call, keys)
        names = {*self.own.attributes, "show"}
        known = {key for key in keys if key[0] in names or self.own.any_attribute}
        values: dict[AttributeKey, object] = dict.fromkeys(keys)
        values.update(await self._pass("read_attributes", call, known))
        return values

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        if self.extends("handle_signal"):
            return await super().signal(call, details)
        return str(await self._pass("signal", call, details))

    def reference_id(self, resource: Snapshot) -> object:
        if REFERENCE in resource.data or resource.data.get(NO_ID):
            return super().reference_id(resource)
        return self.own.reference_id(resource)

    async def consult(self, properties: Mapping[str, object], cloud: Cloud, sources: Sources) -> Iterable[str]:
        problems = list(await super().consult(properties, cloud, sources)) if self.extends("validate") else []
        if self.own.consults:
            problems += await capabilities.consult(self.own, _values(self.own, properties, {}), cloud, sources)
        return problems

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        found = super().implicit_requirements(node, graph)
        if not isinstance(self.own, capabilities.ImplicitlyDependent):
            return found
        own = replace(node, properties=_values(self.own, node.properties, {}))
        return [*found, *self.own.implicit_requirements(own, graph)]

    # -- the plug-in's handlers ---------------------------------------------------------------------------------

    def _refers(self) -> bool:
        return self.extends(*_REFERENCES)

    def _can_continue(self, call: Call, action: str) -> bool:
        """Also repeat the handler of the own type, which finds the object that it has created."""
        return super()._can_continue(call, action) or not self.extends(f"handle_{action}")

    def _maker(self, call: Call, values: Mapping[str, object]) -> Callable[[Record], Any]:
        make, bridge, running = super()._maker(call, values), Bridge(), RUNNING.get(call.resource.uuid)
        passed = self._call(call)

        def read(key: AttributeKey) -> Any:
            current = passed if running is None else replace(passed, physical_id=running.record.resource_id)
            return bridge.run(_attribute(self.own, current, key))

        def made(record: Record) -> Any:
            resource: BuiltIn = make(record)
            resource.reader = read
            resource.ask = running.ask if running is not None else None
            return resource

        return made

    async def _step(self, call: Call, action: str, arguments: Arguments | None, running: Performance) -> Outcome:
        request = running.request
        if request is not None and request.ended is not None:
            running.release()
            request = None
        if request is None:
            outcome = await super()._step(call, action, arguments, running)
            if running.request is None:
                return outcome
            return InProgress(after=0.0, physical_id=running.record.resource_id)
        return await self._carry_out(call, request, running)

    async def _carry_out(self, call: Call, request: Request, running: Performance) -> Outcome:
        """Carry out a handler's request; the handler continues when the result is committed."""
        if request.begins and not request.prepared:
            running.record.copy_to(call)
            self._prepare(call, request.action, request)
            request.prepared = True
            return InProgress(after=0.0)
        if call.progress.get(_ENDED) or not call.progress.get(_BEGUN):
            request.ended = True
            return InProgress(after=0.0)
        outcome: Outcome = await self._pass(request.action, call)
        if not isinstance(outcome, InProgress | Done):
            return outcome
        record = running.record
        record.read_from(call)
        if outcome.physical_id is not None or call.physical_id is not None:
            record.resource_id = outcome.physical_id or call.physical_id
        if isinstance(outcome, Done):
            call.progress[_ENDED] = True
        elif request.begins and request.action == "create" and record.resource_id is None:
            return outcome
        request.ended = isinstance(outcome, Done)
        return InProgress(after=0.0, physical_id=record.resource_id)


def _values(own: ResourceType, values: Mapping[str, object], overrides: Mapping[str, object]) -> dict[str, Any]:
    """Return the values of an own type's properties, of which the plug-in's handlers have set `overrides`."""
    declared = own.properties
    return {name: values.get(name, declared[name].default) for name in declared} | dict(overrides)


def _set_by_handlers(call: Call) -> dict[str, Any]:
    """Return the values that the plug-in's handlers have set, in place of those in the template."""
    return {**(call.data.get(GIVEN) or {}), **(call.data.get(GIVEN_SECRETS) or {})}


def _give(own: ResourceType, call: Call, values: Mapping[str, object]) -> None:
    """Record the values that the plug-in's handlers have set."""
    finalizer = Finalizer()
    overrides = {
        name: value if value is None else finalizer.value(declared, value, (name,))
        for name, declared in own.properties.items()
        if name in values and (value := values[name]) != call.properties.get(name, declared.default)
    }
    if finalizer.problems:
        first = finalizer.problems[0]
        raise ValueError(f"the plug-in sets an invalid value of {'.'.join(map(str, first.path))}: {first.message}")
    secret = {name for name in overrides if Traits.of({name: own.properties[name]}).has_secrets}
    for key, names in ((GIVEN, overrides.keys() - secret), (GIVEN_SECRETS, secret)):
        call.data.pop(key, None)
        if names:
            call.data[key] = {name: overrides[name] for name in sorted(names)}


async def _attribute(own: ResourceType, call: Call, key: AttributeKey) -> Any:
    return (await own.read_attributes(call, {key})).get(key)


def _passed(method: str) -> Any:
    async def passing(self: DerivedType, call: Call, *arguments: object) -> object:
        return await self._pass(method, call, *arguments)

    return passing


def _valued(method: str, count: int) -> object:
    def valued(self: DerivedType, *arguments: Any) -> object:
        values = [_values(self.own, each, {}) for each in arguments[:count]]
        return getattr(self.own, method)(*values, *arguments[count:])

    return valued


_PASSED = (
    "find", "snapshot_delete", "snapshot", "abandon", "used_by", "observe", "unhealthy_reason", "stored_signals",
    "receive", "child_ended",
)  # fmt: skip
_VALUED = {"validate": 1, "child_of": 1, "sample_of": 1, "replacement_reason": 2}
"""Methods with property values, and how many of their arguments these are."""


def made_derived(name: str, plugin: type[BuiltIn], declarations: Mapping[str, object]) -> type[ResourceType]:
    """Return the resource type for the class of a plug-in that derives from one of `class_for`."""
    kind = plugin.kind
    made: dict[str, Any] = {
        "type_name": name,
        "plugin": plugin,
        "kind": kind,
        "whole": kind.properties,
        "recovery": kind.recovery or HeatResourceType.recovery,
        "any_attribute": kind.any_attribute,
        "service": kind.service,
        "extension": kind.extension,
        "local": kind.local and not _extended(plugin),
        **{method: _passed(method) for method in _PASSED if _overrides(kind, method)},
        **{method: _valued(method, count) for method, count in _VALUED.items() if _overrides(kind, method)},
        **declarations,
    }
    made["signalable"] = made["signalable"] or kind.signalable
    made["consults"] = made["consults"] or kind.consults
    made["attributes"] = {**made["attributes"], **{k: v for k, v in kind.attributes.items() if k == "show"}}
    return type(plugin.__name__, (DerivedType, kind), made)


def _overrides(kind: type[ResourceType], method: str) -> bool:
    return getattr(kind, method, None) is not getattr(ResourceType, method, None)


def _extended(plugin: type[BuiltIn]) -> bool:
    """Return whether a plug-in has handlers of its own, which may call services."""
    return any(
        getattr(plugin, name) is not getattr(plugin.own_class, name, None)
        for name in dir(plugin)
        if name.startswith(("handle_", "check_")) or name in _READS
    )
