"""Outputs of a state become outputs of the template: where they say what an object has, they refer to its resource."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.authoring.terraform.drafts import Draft
from stoker.authoring.terraform.state import StateOutput
from stoker.authoring.terraform.table import is_distinct
from stoker.engine.generation.notation import looks_like_function
from stoker.engine.generation.repetitions import reference

OUTPUTS = "outputs"
"""The section of templates."""
_PART = re.compile(r"\{[^{}]+\}|[^.{}]+")


@dataclass(slots=True)
class Outputs:
    """Outputs by name. `fixed` are those with values that refer to nothing, `left_out` says why others are missing."""

    written: dict[str, dict[str, Any]] = field(default_factory=dict)
    fixed: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def outputs_of(
    state_outputs: Mapping[str, StateOutput], names: Mapping[Draft, str], functions: Collection[str]
) -> Outputs:
    """Return the outputs of a template whose resources have these names.

    `functions` are the names of the functions of templates: an output that looks like one of them is left out, as are
    those that the state marks as sensitive.
    """
    references = dict(_references(names))
    outputs = Outputs()
    for name, output in state_outputs.items():
        if output.sensitive:
            outputs.left_out[name] = "the state marks it as sensitive"
        elif output.value is None:
            outputs.left_out[name] = "it has no value"
        elif looks_like_function(output.value, functions):
            outputs.left_out[name] = "its value looks like a function of templates"
        else:
            fixed = list[Any]()
            outputs.written[name] = {"value": _referring(output.value, references, fixed)}
            outputs.fixed += [name] if fixed else []
    return outputs


def _references(names: Mapping[Draft, str]) -> Iterator[tuple[str, Any]]:
    """Yield the references by the values that they have: IDs, and values that one object alone shows."""
    shown: dict[str, object] = {}
    ambiguous = set[str]()
    for draft, name in names.items():
        if is_distinct(draft.id) and not draft.row.each:
            yield draft.id, reference(name, ())
        for source, target in draft.row.shows.items():
            value = _shown_at(draft.shown, source)
            path = tuple(_part(draft, part) for part in _PART.findall(target))
            if isinstance(value, str) and value and "" not in path:
                ambiguous |= {value} if value in shown else set()
                shown[value] = reference(name, path)
    yield from ((value, target) for value, target in shown.items() if value not in ambiguous)


def _part(draft: Draft, part: str) -> Any:
    """Return a part of a path: a key, an index, or the value of an attribute that is in braces ("" if it has none)."""
    if not part.startswith("{"):
        return int(part) if part.isdecimal() else part
    value = _shown_at(draft.shown, part[1:-1])
    return value if isinstance(value, str) else ""


def _shown_at(value: object, path: str) -> Any:
    """Return what is at a path of keys and indexes with dots between; None if there is nothing."""
    for part in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _referring(value: Any, references: Mapping[str, object], fixed: list[object]) -> object:
    """Return a value with references in it; the other values are added to the fixed ones."""
    if isinstance(value, Mapping):
        return {key: _referring(item, references, fixed) for key, item in value.items()}
    if isinstance(value, list):
        return [_referring(item, references, fixed) for item in value]
    if isinstance(value, str) and value in references:
        return references[value]
    fixed.append(value)
    return value
