"""A resource type of Stoker for a class of Heat's plug-in interface."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import deepcopy
from typing import Any, ClassVar

from heat.common import exception
from heat.engine import resource as interface
from heat.engine.properties import Properties
from heat.engine.rsrc_defn import ResourceDefinition
from stoker.base.errors import BadValue, CloudError, StokerError
from stoker.cloud import transport
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome, Replace
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import (
    AttributeKey,
    Call,
    Graph,
    NoActionRequired,
    Node,
    ResourceType,
    Snapshot,
    Sources,
)
from stoker.schema.unknown import has_unknown
from stoker_heat_plugins.credentials import Bridge, Context
from stoker_heat_plugins.dependencies import added_requirements
from stoker_heat_plugins.performance import RUNNING, Performance, enter
from stoker_heat_plugins.record import NO_ID, REFERENCE, SECRETS, Record
from stoker_heat_plugins.schema import defines
from stoker_heat_plugins.stacks import Stack
from stoker_heat_plugins.workers import WORKERS

LOG = logging.getLogger(__name__)

BEGUN, HANDLED, TOKEN, _CANCELLED, _RESET = "begun", "handled", "token", "cancelled", "reset"
_ONCE = frozenset({"create", "snapshot"})
"""The handlers that are not repeated after an interruption, since they create an object."""
_SHORTEST_PAUSE, _LONGEST_PAUSE, _PART_OF_ELAPSED = 1.0, 5.0, 0.25

Arguments = Callable[[Any], tuple[Any, ...]]


class HeatResourceType(ResourceType):
    """Runs the handlers of `plugin`, the class of a plug-in; derived classes are made by `made_type`."""

    plugin: ClassVar[Any]
    any_attribute = False
    redacted_data = frozenset({SECRETS})
    recovery = Recovery(
        RecoveryMethod.RECORD,
        "The ID is recorded before the plug-in's handler continues. A handler that was interrupted before is not "
        "repeated: the creation fails, and the resource is replaced or deleted by the plug-in.",
    )

    # -- before any change --------------------------------------------------------------------------------------

    async def consult(self, properties: Mapping[str, object], cloud: Cloud, sources: Sources) -> Iterable[str]:
        """Call the plug-in's `validate`, once all values are known."""
        if has_unknown(properties):
            return ()
        bridge = Bridge()
        stack = Stack(Context(cloud, bridge), None, None, bridge)
        definition = ResourceDefinition("", self.type_name, deepcopy(dict(properties)), {}, Record())

        def validated() -> list[str]:
            try:
                invalid = self.plugin("", definition, stack).validate()
            except Exception as error:
                return [str(error) or type(error).__name__]
            return [str(invalid)] if invalid else []

        return await WORKERS.run(validated)

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        return added_requirements(self.plugin, node, graph)

    def reference_id(self, resource: Snapshot) -> object:
        if REFERENCE in resource.data:
            return resource.data[REFERENCE]
        return resource.name if resource.data.get(NO_ID) else super().reference_id(resource)

    # -- the life of a resource ---------------------------------------------------------------------------------

    async def create(self, call: Call) -> Outcome:
        return await self._act(call, "create")

    async def update(self, call: Call) -> Outcome:
        after = ResourceDefinition(
            call.resource.name, call.resource.type, deepcopy(dict(call.properties)), dict(call.metadata)
        )
        changed = deepcopy(dict(call.changed))

        def arguments(resource: Any) -> tuple[Any, ...]:
            values = Properties(self.plugin.properties_schema, call.properties)
            if resource.needs_replace(values) or resource.needs_replace_with_prop_diff(
                set(changed), values, resource.properties
            ):
                raise exception.UpdateReplace(call.resource.name)
            return after, {"Properties": changed} if changed else {}, changed

        return await self._act(call, "update", arguments)

    async def delete(self, call: Call) -> Outcome:
        return await self._act(call, "delete")

    async def suspend(self, call: Call) -> Outcome:
        return await self._act(call, "suspend")

    async def resume(self, call: Call) -> Outcome:
        return await self._act(call, "resume")

    async def adopt(self, call: Call) -> Outcome:
        adopted = dict(call.resource.adopted)
        return await self._act(call, "adopt", lambda _resource: (adopted,))

    async def cancel(self, call: Call, why: str) -> None:
        """Call `handle_metadata_reset`, and `handle_<action>_cancel` if the handler has ended and its check has not.

        The latter gets the handler's result.
        """
        if not call.progress.get(_RESET):
            call.progress[_RESET] = True
            await self._reset_metadata(call)
        running = RUNNING.get(call.resource.uuid)
        action = running.key[0] if running is not None else ""
        cancel = getattr(self.plugin, f"handle_{action}_cancel", None)
        waits = running is not None and running.resource is not None and running.work is None
        if cancel is None or running is None or not waits or call.progress.get(_CANCELLED):
            return
        call.progress[_CANCELLED] = True
        with running.committed_later():
            try:
                await WORKERS.run(lambda: cancel(running.resource, running.token))
            except Exception as error:
                failed(self.type_name, f"{action}_cancel", error)
        running.record.copy_to(call)

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        return await self._called(call, "prepare_for_replace")

    async def revert_replacement(self, call: Call) -> Outcome:
        return await self._called(call, "restore_prev_rsrc")

    async def _called(self, call: Call, method: str) -> Outcome:
        """Call a method of the plug-in that is not a handler, if it has one; it must have the same effect again."""
        if not defines(self.plugin, method):
            return Done()
        make, record = self._maker(call, call.properties), Record.of(call)

        def called() -> None:
            resource = make(record)
            getattr(resource, method)()

        transport.current().sent("POST")
        try:
            await WORKERS.run(called)
        except Exception as error:
            return failed(self.type_name, method, error)
        record.copy_to(call)
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        if call.physical_id is None or not defines(self.plugin, "needs_replace_failed"):
            return True
        make = self._maker(call, call.properties)
        return bool(await WORKERS.run(lambda: make(Record.of(call)).needs_replace_failed()))

    # -- reading and signals ------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        make, record = self._maker(call, call.properties), Record.of(call)

        def read() -> dict[AttributeKey, Any]:
            resource = make(record)
            return {key: self._read(resource, key) for key in keys}

        return await WORKERS.run(read)

    def _read(self, resource: Any, key: AttributeKey) -> Any:
        """Return one attribute; None, with a warning, if the plug-in cannot read it."""
        try:
            return resource.FnGetAtt(str(key[0]), *key[1:])
        except Exception as error:
            if isinstance(error, CloudError) and error.transient:
                raise
            LOG.warning(
                "%s: the plug-in cannot read the attribute %s of %s: %s at %s; it is null",
                self.type_name, key[0], resource.name, type(error).__name__, _place(error),
            )  # fmt: skip
            LOG.debug("the traceback", exc_info=error)
            return None

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        make, record = self._maker(call, call.properties), Record.of(call)
        try:
            reason = await WORKERS.run(lambda: make(record).handle_signal(details))
        except interface.NoActionRequired as error:
            raise NoActionRequired(str(error)) from error
        except Exception as error:
            raise BadValue(f"{self.type_name}: the plug-in refuses the signal: {_shown(error)}") from error
        record.copy_to(call)
        return str(reason) if reason else f"Signal: {self.type_name} has handled it"

    # -- internal -----------------------------------------------------------------------------------------------

    def _record(self, call: Call) -> Record:
        """Return what the plug-in's object knows when an action begins."""
        return Record.of(call)

    def _maker(self, call: Call, values: Mapping[str, object]) -> Callable[[Record], Any]:
        """Return what makes the plug-in's object, on a worker thread."""
        stack = Stack.of(call)
        properties, metadata = deepcopy(dict(values)), dict(call.metadata)

        def make(record: Record) -> Any:
            made = self.plugin(
                call.resource.name,
                ResourceDefinition(call.resource.name, call.resource.type, properties, metadata, record),
                stack,
            )
            for rule in made.translation_rules(made.properties) or ():
                rule.apply(made.properties.data)
            return made

        return make

    async def _act(self, call: Call, action: str, arguments: Arguments | None = None) -> Outcome:
        """Take the next step of an action: the mark that it begins, its handler, then its check until it is true."""
        key = (action, call.action, call.resource.started_at)
        running = RUNNING.get(call.resource.uuid)
        if running is not None and running.key != key:
            running.release()
            if running.work is not None and (again := await running.progress(call)) is not None:
                return again  # an action that was stopped has not ended yet, and may still record an ID
            del RUNNING[call.resource.uuid]
            running = None
        if running is None:
            if call.progress.get(BEGUN) is not None:
                await self._reset_metadata(call)
            running = Performance(key, self._record(call))
            if call.progress.get(BEGUN) is None:
                enter(call.resource.uuid, running)
                call.progress[BEGUN] = action
                return InProgress(after=0.0)
            if not self._can_continue(call, action):
                return self._interrupted(call, action)
            enter(call.resource.uuid, running)
        try:
            outcome = await self._step(call, action, arguments, running)
        except Exception as error:
            if running.request is not None and isinstance(error, CloudError):
                raise  # of the engine's own type, for which the handler waits: the engine decides about another attempt
            outcome = failed(self.type_name, action, error)
        if not isinstance(outcome, InProgress):
            running.release()
            RUNNING.pop(call.resource.uuid, None)
        return outcome

    async def _reset_metadata(self, call: Call) -> None:
        """Have the plug-in correct metadata that describe an action as in progress, which was stopped."""
        if not defines(self.plugin, "handle_metadata_reset"):
            return
        make, record = self._maker(call, call.properties), Record.of(call)
        try:
            await WORKERS.run(lambda: make(record).handle_metadata_reset())
        except Exception as error:
            failed(self.type_name, "metadata_reset", error)
            return
        record.copy_to(call)
        if (running := RUNNING.get(call.resource.uuid)) is not None:
            running.record.metadata = dict(record.metadata)

    def _refers(self) -> bool:
        """Return whether the plug-in has a reference ID of its own."""
        return defines(self.plugin, "FnGetRefId") or defines(self.plugin, "get_reference_id")

    def _can_continue(self, call: Call, action: str) -> bool:
        """Return whether an interrupted action can go on: its handler is repeated, or has ended with a known result."""
        return action not in _ONCE or TOKEN in call.progress

    async def _step(self, call: Call, action: str, arguments: Arguments | None, running: Performance) -> Outcome:
        if running.work is None:
            self._start(call, action, arguments, running)
        if (again := await running.progress(call)) is not None:
            return again
        assert running.work is not None
        result = running.work.result()
        if not call.progress.get(HANDLED):
            call.progress[HANDLED] = True
            if _is_plain(result):
                call.progress[TOKEN] = result
            running.token, running.work = result, None
            if defines(self.plugin, f"check_{action}_complete"):
                return InProgress(after=0.0, physical_id=running.record.resource_id)
            result = True
        elif not result:
            running.work = None
            return InProgress(after=min(_LONGEST_PAUSE, max(_SHORTEST_PAUSE, call.elapsed * _PART_OF_ELAPSED)))
        return await self._ended(call, action, running)

    def _start(self, call: Call, action: str, arguments: Arguments | None, running: Performance) -> None:
        """Run the handler on a thread, or its check once it has ended."""
        former = action == "update" and call.previous is not None
        make = self._maker(call, (call.previous or {}) if former else call.properties)
        checked = getattr(self.plugin, f"check_{action}_complete", None)
        if call.progress.get(HANDLED) and (running.resource is not None or TOKEN in call.progress):
            if running.resource is None:
                running.token = call.progress[TOKEN]

            def check() -> bool:
                assert checked is not None
                if running.resource is None:
                    running.resource = make(running.record)
                return bool(checked(running.resource, running.token))

            running.start(check)
            return
        call.progress.pop(HANDLED, None)
        handler = getattr(self.plugin, f"handle_{action}", None)

        def handle() -> Any:
            running.resource = resource = make(running.record)
            if action == "create" and (invalid := resource.validate()):
                raise exception.StackValidationFailed(message=invalid)
            values = arguments(resource) if arguments is not None else ()
            return handler(resource, *values) if handler is not None else None

        transport.current().sent("POST")
        running.start(handle)

    async def _ended(self, call: Call, action: str, running: Performance) -> Outcome:
        """Record the reference ID, and that a created resource has no ID of its own."""
        resource, record = running.resource, running.record
        if action == "delete":
            return Done()
        values = dict(call.properties)

        def reference() -> Any:
            if action == "update":
                resource.properties = Properties(self.plugin.properties_schema, values)
            return resource.FnGetRefId()

        if self._refers():
            found = await WORKERS.run(reference)
            call.data[REFERENCE] = found if _is_plain(found) else str(found)
        if record.resource_id is None and action in ("create", "adopt"):
            call.data[NO_ID] = True
            return Done(physical_id=call.physical_id or call.physical_name)
        return Done(physical_id=record.resource_id)

    def _interrupted(self, call: Call, action: str) -> Outcome:
        where = f"{self.type_name}: the engine stopped while handle_{action} of the plug-in was running"
        if call.progress.get(HANDLED):
            where = f"{self.type_name}: the engine stopped before check_{action}_complete of the plug-in was true"
        known = (
            f"The ID {call.physical_id} is recorded, and the object is deleted with the resource."
            if call.physical_id is not None
            else f"It is unknown whether there is an object; plug-ins usually name it {call.physical_name}."
        )
        return Failed(
            f"{where}. It is not repeated, since that could create a second object. {known} Update the stack to "
            "replace the resource, or delete it.",
            "Interrupted",
        )


def made_type(base: type[HeatResourceType], name: str, plugin: Any, **declarations: object) -> type[HeatResourceType]:
    """Return the resource type for the class of a plug-in, derived from `base`, with its declarations."""
    made = {"type_name": name, "plugin": plugin, **declarations}
    if base is HeatResourceType and defines(plugin, "handle_check"):
        made["check"] = _check
    return type(plugin.__name__, (base,), made)


async def _check(self: HeatResourceType, call: Call) -> Outcome:
    """Check the object with the plug-in's `handle_check`."""
    return await self._act(call, "check")


def failed(type_name: str, action: str, error: Exception) -> Outcome:
    """Return the outcome for an exception of a plug-in; the log has the place, and not the message, of defects."""
    if isinstance(error, exception.UpdateReplace):
        return Replace(str(error))
    cause: BaseException = error
    if isinstance(error, exception.ResourceFailure) and error.exc is not None:
        cause = error.exc
    LOG.warning("%s: %s of the plug-in failed with %s at %s", type_name, action, type(cause).__name__, _place(error))
    LOG.debug("the traceback", exc_info=error)
    kind = cause.kind if isinstance(cause, StokerError) else type(cause).__name__
    return Failed(_message(cause), kind, in_error=isinstance(cause, exception.ResourceInError))


def _place(error: BaseException) -> str:
    """Return the file and line at which an exception was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {_message(error)}"


def _message(error: BaseException) -> str:
    return error.message if isinstance(error, StokerError) else str(error) or type(error).__name__


def _is_plain(value: object) -> bool:
    """Return whether a value is the same after it was stored as JSON."""
    try:
        return bool(json.loads(json.dumps(value)) == value) and not isinstance(value, tuple)
    except (TypeError, ValueError):
        return False
