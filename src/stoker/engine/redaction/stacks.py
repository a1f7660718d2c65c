"""The secrets of a stack, and its values and messages with them redacted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar, cast

from stoker.base.errors import StokerError
from stoker.base.redaction import REDACTED, redact, redact_values, strings_of
from stoker.engine.records.differences import shown
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView, view_of
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.hidden_values import Redaction
from stoker.schema.property import secret_paths
from stoker.store import queries
from stoker.store.records import Stack

Message = TypeVar("Message", str, list[str])


async def secrets_now(services: EngineServices, stack: Stack) -> set[str]:
    """Return the values of hidden parameters of the stack and of the stacks above it, as strings.

    These include hidden parameters of templates among the stack's files: defaults, and values from the environment.
    """
    return await _secrets_of(services, [(each, each.inputs) for each in await _upwards(services, stack)])


async def secrets_ever(services: EngineServices, stack: Stack) -> set[str]:
    """Return the same including the values that the parameters had before."""
    return await _secrets_of(services, await _history(services, await _upwards(services, stack)))


async def secrets_above(services: EngineServices, stack: Stack) -> set[str]:
    """Return what the stacks above a nested stack hide, now or before: the nested stack's plan must not show it."""
    return await _secrets_of(services, await _history(services, (await _upwards(services, stack))[1:]))


async def _secrets_of(services: EngineServices, inputs: Iterable[tuple[Stack, str]]) -> set[str]:
    found: set[str] = set()
    for stack, inputs_id in inputs:
        found |= await services.secrets(stack, inputs_id)
    return found


async def _history(services: EngineServices, stacks: Iterable[Stack]) -> list[tuple[Stack, str]]:
    """Return the IDs of all inputs, current and former, of the stacks."""
    by_id = {stack.id: stack for stack in stacks}
    former = await services.database.read(queries.inputs_of_operations, list(by_id)) if by_id else {}
    return [(stack, each) for stack in by_id.values() for each in {stack.inputs, *former.get(stack.id, ())}]


async def _upwards(services: EngineServices, stack: Stack) -> list[Stack]:
    """Return the stack and those above it, up to the root."""
    found = [stack]
    while found[-1].parent_id is not None:
        above = await services.database.read(queries.stack_by_id, found[-1].parent_id)
        if above is None:
            break
        found.append(above)
    return found


async def without_secrets(view: StackView, message: Message, state: ResourceState | None = None) -> Message:
    """Return messages that are recorded or shown in clear, such as reasons, with secrets of the stack and of those
    above it redacted.

    `state` is the resource that the messages are about.
    """
    secrets = await secrets_ever(view.services, view.stack)
    secrets.update(generated_secrets(view))
    if state is not None:
        secrets.update(_secret_properties(state))
    return cast(Message, redact(message, secrets))


def generated_secrets(view: StackView) -> Iterator[str]:
    """Yield the secrets that resource types generated: `redacted_data` of the stack's resources."""
    for state in view.states.values():
        for key in state.type.redacted_data & state.stored.data.keys() if state.type.redacted_data else ():
            yield from strings_of(state.stored.data[key])


def _secret_properties(state: ResourceState) -> Iterator[str]:
    if state.type.has_secrets:
        for path in secret_paths(state.type.properties, state.given):
            value: Any = state.given
            for part in path:
                value = value[part]
            yield from strings_of(value)


async def properties_shown(
    services: EngineServices, stack: Stack, events: Iterable[tuple[str | None, str, str]]
) -> dict[str, Mapping[str, Any]]:
    """Return redacted property sets by ID. `events` are given as the ID of the event's set, or None, and the type and
    name of its resource.

    Current and former hidden values, generated secrets, and properties that a type declares as secret are redacted.
    """
    owners = {identifier: owner for identifier, *owner in events if identifier is not None}
    if not owners:
        return {}
    sealed = await services.database.read(queries.property_sets, set(owners))
    view = await view_of(services, stack)
    secrets = await secrets_ever(services, stack) | set(generated_secrets(view))
    inputs = view.inputs or await services.loader.load(stack.inputs)

    def redacted() -> dict[str, Mapping[str, Any]]:
        redaction = _redaction(view, inputs)
        found: dict[str, Mapping[str, Any]] = {}
        for identifier, body in sealed.items():
            values, (type_name, name) = services.sealer.open(body), owners[identifier]
            _, kind = services.types.lookup(inputs.environment, inputs.files, type_name, name)
            hidden = set(secret_paths(kind.properties, values)) if kind is not None and kind.has_secrets else set()
            if redaction is not None and name in redaction.definition.resources:
                hidden |= redaction.paths(name, view.scope)
            visible = dict.fromkeys(values, REDACTED) if () in hidden else shown(values, hidden)
            found[identifier] = redact_values(visible, secrets)
        return found

    return await services.evaluator.evaluate(stack.project_id, redacted)


def _redaction(view: StackView, inputs: LoadedInputs) -> Redaction | None:
    """Return what finds values in the stack's properties that depend on hidden parameters; None if the template has no
    hidden parameters or is no longer valid.
    """
    if not inputs.template.hides:
        return None
    with suppress(StokerError):
        definition = view.services.loader.bind(view.stack, inputs, strict=False)
        types = view.services.types.of_definition(definition, inputs.environment, inputs.files)
        return Redaction(definition, types)
    return None
