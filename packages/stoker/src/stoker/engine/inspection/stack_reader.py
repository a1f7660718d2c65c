"""Read stacks without changing them: outputs and attributes, from the record, or live if they are not recorded."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from stoker.base.errors import CloudError, StokerError, TemplateInvalid
from stoker.base.ids import new_id
from stoker.engine.calls.building import make_read_call
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded, StackView, view_around, view_of
from stoker.engine.records.state import ResourceState, attribute_text, keys_of, walk
from stoker.engine.redaction.stacks import without_secrets
from stoker.engine.scheduling import all_of
from stoker.plugins.resource import AttributeKey
from stoker.schema.unknown import has_unknown, is_unknown
from stoker.store.records import Stack
from stoker.template.definition import Definition
from stoker.template.functions.aws import FnGetAZs

LOG = logging.getLogger(__name__)

REFUSALS = (401, 403, 404)
"""Statuses of calls with a credential that Keystone does not honor any more."""
UNUSABLE = (
    "Keystone does not honor the trust with which the service acts for the stack's owner any more, for example because "
    "the owner's roles have changed. Check or update the stack as its owner: the service then gets a new trust."
)


class Reader:
    """Answers questions about stacks from what is recorded at that moment.

    Each caller gets its own view, also of a stack with a running operation: a read neither changes the data of the
    operation nor sees them change.
    """

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    async def view(self, stack: Stack) -> StackView:
        """Return the stack as currently recorded."""
        return await view_of(self._services, stack)

    async def around(self, stack: Stack, name: str) -> StackView:
        """Return the stack as currently recorded, of its resources only the one with this name and those it needs."""
        return await view_around(self._services, stack, name)

    async def attribute(self, view: StackView, resource: str, key: AttributeKey) -> object:
        """Return an attribute with the path that follows it; None if there is no such resource or value."""
        state = view.current.get(resource)
        if state is None:
            return None
        requested = key if state.type.path_in_attribute else key[:1]
        values = await self.read(view, state, {requested})
        value = values.get(requested)
        return value if state.type.path_in_attribute else walk(value, key[1:])

    async def read(
        self, view: StackView, state: ResourceState, keys: set[AttributeKey], *, live: bool = False
    ) -> dict[AttributeKey, Any]:
        """Return attribute values: recorded ones if they are available and usable, the others read now."""
        recorded = state.stored.attributes
        found: dict[AttributeKey, object] = {}
        missing: set[AttributeKey] = set()
        for key in keys:
            declared = state.type.attributes.get(str(key[0]))
            if not live and attribute_text(key) in recorded and not (declared is not None and declared.live):
                found[key] = recorded[attribute_text(key)]
            else:
                missing.add(key)
        return found | await self._read_now(view, state, missing) if missing else found

    async def _read_now(
        self, view: StackView, state: ResourceState, keys: set[AttributeKey]
    ) -> dict[AttributeKey, object]:
        """Return values from the service; None for those that cannot be read.

        An error of a type for one resource must not prevent the other resources from being shown.
        """
        if state.row.physical_id is None and not state.type.local:
            return dict.fromkeys(keys)
        name = state.row.name
        try:
            return await state.type.read_attributes(await make_read_call(view, state, self), keys)
        except StokerError as error:
            self._no_answer(error)
            reason = await self._reason(view, error)
            LOG.warning("Cannot read attributes of %s of stack %s: %s", name, view.stack.name, reason)
            view.scope.unread[name] = reason
        except Exception:
            reference = new_id()
            LOG.exception(
                "Reference %s: cannot read attributes of %s (%s) of stack %s",
                reference, name, state.row.type, view.stack.name,
            )  # fmt: skip
            quoted = f"quote this reference to the operator of the service: {reference}"
            view.scope.unread[name] = f"internal error; {quoted}"
        return dict.fromkeys(keys)

    async def _reason(self, view: StackView, error: StokerError) -> str:
        if not isinstance(error, CloudError):
            return error.message
        if error.status in REFUSALS and not await self._services.credentials.usable(view.stack):
            return UNUSABLE
        return f"{error.service}: {error.message}"

    def _no_answer(self, error: StokerError) -> None:
        """Return the value that replaces an error: None."""

    async def outputs(self, stack: Stack, inputs: LoadedInputs, only: str | None = None) -> list[dict[str, Any]]:
        """Return the resolved outputs of a stack with `inputs`: `output_error` is the reason for a missing value,
        `enabled` is false if the condition of an output is false.
        """
        exports = await self._services.loader.exports(stack.project_id, inputs.template)
        definition = await self._services.bind(stack, inputs, exports)
        names = [only] if only is not None else list(definition.outputs)
        if not names:
            return []
        view = await self.view(stack)
        await self._prefetch(view, definition, names)
        answers = await view.evaluate(lambda: [_output(view, definition, name) for name in names])
        for answer in answers:
            if answer["output_value"] is None and "output_error" not in answer:
                why = await self._missing_reason(view, definition, answer["output_key"])
                answer |= {"output_error": why} if why else {}
        failing = [answer for answer in answers if "output_error" in answer]
        if failing:
            errors = await without_secrets(view, [str(answer["output_error"]) for answer in failing])
            for answer, error in zip(failing, errors, strict=True):
                answer["output_error"] = error
        return answers

    async def _missing_reason(self, view: StackView, definition: Definition, name: str) -> str | None:
        """Return why an output has no value: an attribute that cannot be read, or the error of a nested stack's output
        that it refers to.
        """
        expression = definition.outputs[name].value
        for placed in await view.evaluate(lambda: list(definition.references_in(expression))):
            reference = placed.reference
            if reference.attribute and reference.resource in view.scope.unread:
                unread = view.scope.unread[reference.resource]
                return f"The attribute {reference.attribute} of {reference.resource} cannot be read: {unread}"
            state = view.current.get(reference.resource)
            if state is None or not state.type.nested or not reference.attribute:
                continue
            below = await self._services.database.read(partial(Recorded.below, self._services), state.row.uuid)
            if below is not None and below.inputs is not None:
                why = await self._why(below.stack, below.inputs, reference.attribute)
                if why:
                    return f"Error in {reference.resource} output {reference.attribute}: {why}"
        return None

    async def _why(self, stack: Stack, inputs: LoadedInputs, name: str) -> str | None:
        exports = await self._services.loader.exports(stack.project_id, inputs.template)
        definition = await self._services.bind(stack, inputs, exports)
        if name not in definition.outputs:
            return None
        view = await self.view(stack)
        await self._prefetch(view, definition, [name])
        try:
            value = await view.evaluate(partial(definition.resolve, definition.outputs[name].value, view.scope))
        except TemplateInvalid as error:
            return error.diagnostics[0].message
        return await self._missing_reason(view, definition, name) if value is None else None

    async def _prefetch(self, view: StackView, definition: Definition, names: list[str]) -> None:
        shows_zones, needed = await view.evaluate(partial(_read_attributes, view, definition, names))
        if shows_zones and is_unknown(view.scope.zones):
            await _load_zones(view)
        found = await all_of([self.read(view, view.current[name], keys) for name, keys in needed.items()])
        for resource, values in zip(needed, found, strict=True):
            for key, value in values.items():
                view.scope.prefetched[resource, attribute_text(key)] = value


class ReaderForRuns(Reader):
    """Reads nested stacks for a running operation. The operation's values must not depend on whether a service was
    busy, so errors of services are raised, and the operation retries. Every method can raise CloudError.
    """

    def _no_answer(self, error: StokerError) -> None:
        if isinstance(error, CloudError) and error.transient:
            raise error


def _read_attributes(
    view: StackView, definition: Definition, names: list[str]
) -> tuple[bool, dict[str, set[AttributeKey]]]:
    """Return whether outputs use the availability zones, and the attributes of each resource that they use."""
    expressions = [definition.outputs[name].value for name in names]
    shows_zones = any(True for each in expressions for _ in definition.calls_in(each, FnGetAZs))
    needed: dict[str, set[AttributeKey]] = {}
    for expression in expressions:
        for placed in definition.references_in(expression):
            reference = placed.reference
            state = view.current.get(reference.resource)
            if state is not None:
                needed.setdefault(reference.resource, set()).update(keys_of(reference, state.type))
    return shows_zones, needed


async def _load_zones(view: StackView) -> None:
    try:
        await view.load_zones()
    except StokerError as error:
        LOG.info("cannot read the availability zones for outputs of %s: %s", view.stack.name, error.message)


def _output(view: StackView, definition: Definition, name: str) -> dict[str, Any]:
    output = definition.outputs[name]
    answer: dict[str, object] = {
        "output_key": name,
        "description": output.description,
        "enabled": output.enabled,
        "output_value": None,
    }
    if not output.enabled:
        return answer
    try:
        value = definition.resolve(output.value, view.scope)
    except StokerError as error:
        answer["output_error"] = error.message
        return answer
    answer["output_value"] = None if has_unknown(value) else value
    return answer
