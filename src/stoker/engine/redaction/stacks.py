"""What nobody may see of a stack, and values with that blotted out."""

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
from stoker.engine.redaction.hidden_values import Concealment
from stoker.schema.property import secret_paths
from stoker.store import queries
from stoker.store.records import Stack

Told = TypeVar("Told", str, list[str])


async def secrets_now(services: EngineServices, stack: Stack) -> set[str]:
    """Texts of hidden parameters' values, of the stack and of the stacks above it.

    Those count, too, that templates among the stack's files hide: their defaults, and what the environment gives them.
    """
    return await _secrets_of(services, [(each, each.inputs) for each in await _upwards(services, stack)])


async def secrets_ever(services: EngineServices, stack: Stack) -> set[str]:
    """The same with values that they had before, for what tells of the past."""
    return await _secrets_of(services, await _history(services, await _upwards(services, stack)))


async def secrets_above(services: EngineServices, stack: Stack) -> set[str]:
    """What the stacks above a nested one hide, now or before: it must not be shown in the nested one's plan either."""
    return await _secrets_of(services, await _history(services, (await _upwards(services, stack))[1:]))


async def _secrets_of(services: EngineServices, inputs: Iterable[tuple[Stack, str]]) -> set[str]:
    found: set[str] = set()
    for stack, inputs_id in inputs:
        found |= await services.secrets(stack, inputs_id)
    return found


async def _history(services: EngineServices, stacks: Iterable[Stack]) -> list[tuple[Stack, str]]:
    """Everything that the stacks have been made from so far, as ids of inputs."""
    by_id = {stack.id: stack for stack in stacks}
    former = await services.database.read(queries.inputs_of_operations, list(by_id)) if by_id else {}
    return [(stack, each) for stack in by_id.values() for each in {stack.inputs, *former.get(stack.id, ())}]


async def _upwards(services: EngineServices, stack: Stack) -> list[Stack]:
    """The stack and those above it, up to the root."""
    found = [stack]
    while found[-1].parent_id is not None:
        above = await services.database.read(queries.stack_by_id, found[-1].parent_id)
        if above is None:
            break
        found.append(above)
    return found


async def without_secrets(view: StackView, told: Told, state: ResourceState | None = None) -> Told:
    """Texts that are to be recorded or shown in clear, as reasons are, with what anybody hides in the stack or above
    it blotted out.

    `state` is the resource that they are about.
    """
    secrets = await secrets_ever(view.services, view.stack)
    secrets.update(generated_secrets(view))
    if state is not None:
        secrets.update(_secret_properties(state))
    return cast(Told, redact(told, secrets))


def generated_secrets(view: StackView) -> Iterator[str]:
    """What types have made up and keep to themselves: `hidden_data` of the stack's resources."""
    for state in view.states.values():
        for key in state.type.hidden_data & state.stored.data.keys() if state.type.hidden_data else ():
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
    """Property sets as they may be shown, by id. Of each event it needs the id of its set, or None, and the resource's
    type and name.

    Blotted out are hidden values of any time, what types have made up, and properties that a type holds secret.
    """
    owners = {identifier: owner for identifier, *owner in events if identifier is not None}
    if not owners:
        return {}
    sealed = await services.database.read(queries.property_sets, set(owners))
    view = await view_of(services, stack)
    secrets = await secrets_ever(services, stack) | set(generated_secrets(view))
    inputs = view.inputs or await services.loader.load(stack.inputs)

    def redacted() -> dict[str, Mapping[str, Any]]:
        concealment = _concealment(view, inputs)
        found: dict[str, Mapping[str, Any]] = {}
        for identifier, body in sealed.items():
            values, (type_name, name) = services.sealer.open(body), owners[identifier]
            _, kind = services.types.lookup(inputs.environment, inputs.files, type_name, name)
            hidden = set(secret_paths(kind.properties, values)) if kind is not None and kind.has_secrets else set()
            if concealment is not None and name in concealment.definition.resources:
                hidden |= concealment.paths(name, view.scope)
            told = dict.fromkeys(values, REDACTED) if () in hidden else shown(values, hidden)
            found[identifier] = redact_values(told, secrets)
        return found

    return await services.evaluator.evaluate(stack.project_id, redacted)


def _concealment(view: StackView, inputs: LoadedInputs) -> Concealment | None:
    """What tells where the stack's properties hold what hidden parameters were made into; None where it hides nothing,
    or its template is not understood any more.
    """
    if not inputs.template.hides:
        return None
    with suppress(StokerError):
        definition = view.services.loader.bind(view.stack, inputs, strict=False)
        types = view.services.types.of_definition(definition, inputs.environment, inputs.files)
        return Concealment(definition, types)
    return None
