"""What nobody may see of a stack, and values with that blotted out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from stoker.engine.plan import masked
from stoker.store import queries
from stoker.store.records import Stack
from stoker.template.parameter import HIDDEN_TEXT

if TYPE_CHECKING:
    from stoker.engine.core import Engine

_OPERATIONS = 20
"""How many of a stack's operations are looked through for values that parameters had."""


async def secrets_now(engine: Engine, stack: Stack) -> set[str]:
    """Texts of hidden parameters' values, of the stack and of the stacks above it."""
    found: set[str] = set()
    for each in await _upwards(engine, stack):
        found |= await _secrets_in(engine, each, each.inputs)
    return found


async def secrets_ever(engine: Engine, stack: Stack) -> set[str]:
    """The same with values that they had before, for what tells of the past."""
    found: set[str] = set()
    for each in await _upwards(engine, stack):
        operations = await engine.database.read(queries.operations_of, each.id, _OPERATIONS)
        former = {inputs for item in operations for inputs in (item.inputs, item.former_inputs) if inputs}
        for inputs_id in {each.inputs, *former}:
            found |= await _secrets_in(engine, each, inputs_id)
    return found


async def _upwards(engine: Engine, stack: Stack) -> list[Stack]:
    """The stack and those above it, up to the root."""
    found = [stack]
    while found[-1].parent_id is not None:
        above = await engine.database.read(queries.stack_by_id, found[-1].parent_id)
        if above is None:
            break
        found.append(above)
    return found


async def _secrets_in(engine: Engine, stack: Stack, inputs_id: str) -> set[str]:
    inputs = await engine.loader.load(inputs_id)
    if not any(parameter.hidden for parameter in inputs.template.parameters.values()):
        return set()
    parameters = engine.loader.bind(stack, inputs, strict=False).parameters
    return {text for name in parameters.hidden for text in _texts(parameters.get(name))}


def _texts(value: Any) -> Iterator[str]:
    match value:
        case Mapping():
            for inner in value.values():
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)
        case str() | int() | float() if not isinstance(value, bool) and value != "":
            yield str(value)


def masked_values(value: Any, secrets: Collection[str]) -> Any:
    """Property values with every occurrence of a secret blotted out, also of one that is a number."""
    if isinstance(value, Mapping):
        return {key: masked_values(item, secrets) for key, item in value.items()}
    if isinstance(value, list):
        return [masked_values(item, secrets) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in secrets:
        return HIDDEN_TEXT
    return masked(value, secrets)
