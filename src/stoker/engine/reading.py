"""Looking at stacks without changing them: outputs and attributes, as recorded, or live where nothing is recorded."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from stoker.base.errors import StokerError, TemplateInvalid
from stoker.engine.calls import make_call
from stoker.engine.loader import LoadedInputs
from stoker.engine.masking import without_secrets
from stoker.engine.recorded import Recorded
from stoker.engine.stack_context import StackContext
from stoker.engine.state import ResourceState, attribute_text, keys_of, walk
from stoker.plugins.resource import AttributeKey
from stoker.schema.unknown import has_unknown, is_unknown
from stoker.store.records import Stack
from stoker.template.definition import Definition
from stoker.template.functions.aws import FnGetAZs

if TYPE_CHECKING:
    from stoker.engine.core import Engine

LOG = logging.getLogger(__name__)


class Reader:
    """Answers questions about stacks that are not being changed by the one who asks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def context(self, stack: Stack) -> StackContext:
        """The stack in memory: that of the running operation where one runs here, else read from the store."""
        running = self._engine.runs.get(stack.id)
        if running is not None and running.plan is not None:
            return running
        context = StackContext(self._engine, stack)
        recorded = await self._engine.database.read(partial(Recorded.of, self._engine), stack)
        context.inputs = recorded.inputs
        context.states |= recorded.states
        context.current |= recorded.current
        return context

    async def attribute(self, context: StackContext, resource: str, key: AttributeKey) -> Any:
        """An attribute with the path that follows it; None when there is no such resource or value."""
        state = context.current.get(resource)
        if state is None:
            return None
        wanted = key if state.type.path_in_attribute else key[:1]
        values = await self.read(context, state, {wanted})
        value = values.get(wanted)
        return value if state.type.path_in_attribute else walk(value, key[1:])

    async def read(
        self, context: StackContext, state: ResourceState, keys: set[AttributeKey], *, live: bool = False
    ) -> dict[AttributeKey, Any]:
        """Attribute values: recorded ones where they are at hand and may be used, the others read now."""
        recorded = state.stored.attributes
        found: dict[AttributeKey, Any] = {}
        missing: set[AttributeKey] = set()
        for key in keys:
            declared = state.type.attributes.get(str(key[0]))
            if not live and attribute_text(key) in recorded and not (declared is not None and declared.live):
                found[key] = recorded[attribute_text(key)]
            else:
                missing.add(key)
        if missing:
            try:
                found |= await state.type.read_attributes(await make_call(context, state), missing)
            except StokerError as error:
                LOG.info("attributes of %s cannot be read: %s", state.row.name, error.message)
                found |= dict.fromkeys(missing)
        return found

    async def outputs(self, stack: Stack, inputs: LoadedInputs, only: str | None = None) -> list[dict[str, Any]]:
        """The outputs of a stack made from `inputs`, resolved: `output_error` says why one has no value, `enabled` is
        false for those whose condition does not hold.
        """
        exports = await self._engine.loader.exports(stack.project_id, inputs.template)
        definition = self._engine.loader.bind(stack, inputs, strict=False, exports=exports)
        names = [only] if only is not None else list(definition.outputs)
        if not names:
            return []
        context = await self.context(stack)
        await self._prefetch(context, definition, names)
        answers = [_output(context, definition, name) for name in names]
        for answer in answers:
            if answer["output_value"] is None and "output_error" not in answer:
                why = await self._why_below(context, definition, answer["output_key"])
                answer |= {"output_error": why} if why else {}
        failing = [answer for answer in answers if "output_error" in answer]
        if failing:
            errors = await without_secrets(context, [str(answer["output_error"]) for answer in failing])
            for answer, error in zip(failing, errors, strict=True):
                answer["output_error"] = error
        return answers

    async def _why_below(self, context: StackContext, definition: Definition, name: str) -> str | None:
        """What is wrong with the nested stack's output that an output without a value shows."""
        for placed in definition.references_in(definition.outputs[name].value):
            reference = placed.reference
            state = context.current.get(reference.resource)
            if state is None or not state.type.nested or not reference.attribute:
                continue
            below = await self._engine.database.read(partial(Recorded.below, self._engine), state.row.uuid)
            if below is not None and below.inputs is not None:
                why = await self._why(below.stack, below.inputs, reference.attribute)
                if why:
                    return f"Error in {reference.resource} output {reference.attribute}: {why}"
        return None

    async def _why(self, stack: Stack, inputs: LoadedInputs, name: str) -> str | None:
        exports = await self._engine.loader.exports(stack.project_id, inputs.template)
        definition = self._engine.loader.bind(stack, inputs, strict=False, exports=exports)
        if name not in definition.outputs:
            return None
        context = await self.context(stack)
        await self._prefetch(context, definition, [name])
        try:
            value = definition.resolve(definition.outputs[name].value, context.scope)
        except TemplateInvalid as error:
            return error.diagnostics[0].message
        return await self._why_below(context, definition, name) if value is None else None

    async def _prefetch(self, context: StackContext, definition: Definition, names: list[str]) -> None:
        expressions = [definition.outputs[name].value for name in names]
        shows_zones = any(True for each in expressions for _ in definition.calls_in(each, FnGetAZs))
        if shows_zones and is_unknown(context.scope.zones):
            await _load_zones(context)
        wanted: dict[str, set[AttributeKey]] = {}
        for name in names:
            for placed in definition.references_in(definition.outputs[name].value):
                reference = placed.reference
                state = context.current.get(reference.resource)
                if state is not None:
                    wanted.setdefault(reference.resource, set()).update(keys_of(reference, state.type))
        for resource, keys in wanted.items():
            values = await self.read(context, context.current[resource], keys)
            for key, value in values.items():
                context.scope.prefetched[resource, attribute_text(key)] = value


async def _load_zones(context: StackContext) -> None:
    try:
        await context.load_zones()
    except StokerError as error:
        LOG.info("the zones that outputs of %s show cannot be read: %s", context.stack.name, error.message)


def _output(context: StackContext, definition: Definition, name: str) -> dict[str, Any]:
    output = definition.outputs[name]
    answer: dict[str, Any] = {
        "output_key": name,
        "description": output.description,
        "enabled": output.enabled,
        "output_value": None,
    }
    if not output.enabled:
        return answer
    try:
        value = definition.resolve(output.value, context.scope)
    except StokerError as error:
        answer["output_error"] = error.message
        return answer
    answer["output_value"] = None if has_unknown(value) else value
    return answer
