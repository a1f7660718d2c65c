"""Where the values that Heat has recorded of a resource, and those of its template, agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.engine.planning.decide import Target
from stoker.engine.planning.plan import Decision
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.reasons import ReasonCode
from stoker.engine.records.state import ResourceState, attribute_text
from stoker.plugins.resource import ResourceType, finalized
from stoker.schema.unknown import has_unknown, is_unknown
from stoker.store.records import COMPLETE
from stoker.takeover.mapped import MappedStack


def only_inside(decision: Decision) -> bool:
    """Return whether a decision is about what is in a nested stack only."""
    return all(reason.code is ReasonCode.NESTED_MAY_CHANGE for reason in decision.reasons) and not decision.changes


def known_definition(target: Target, state: ResourceState) -> dict[str, object]:
    """Return the definition to record; Heat's metadata where the template's depend on values that are not known."""
    definition = target.definition()
    if has_unknown(definition["metadata"]):
        definition["metadata"] = dict(state.stored.metadata)
    return {name: value for name, value in definition.items() if not has_unknown(value)}


def agreed_values(target: Target, values: Mapping[str, object], *, same: bool) -> dict[str, object]:
    """Return the property values to record: the template's where Heat's mean the same, Heat's elsewhere.

    Heat records IDs where a template has names. If a resource was converged with the present template (`same`), the
    values of properties that accept names are the template's.
    """
    kind, present = target.type, target.properties
    if kind.ignores_properties or kind.any_properties:
        return dict(present) if same and not has_unknown(present) else dict(values)
    theirs, ours = finalized(kind, values), finalized(kind, present)
    agreed: dict[str, object] = {}
    for name in {*values, *present}:
        known = name in present and not has_unknown(present[name])
        named = name in kind.properties and same and _accepts_names(kind, name)
        if (known and theirs.get(name) == ours.get(name)) or (known and named) or (name not in values and known):
            agreed[name] = present[name]
        elif name in values:
            agreed[name] = values[name]
    return agreed


def _accepts_names(kind: ResourceType, name: str) -> bool:
    return _resolves_names(kind.properties[name])


def _resolves_names(prop: Any) -> bool:
    inside = [*(prop.schema or {}).values(), *([prop.items] if prop.items is not None else [])]
    return prop.resolve is not None or any(map(_resolves_names, inside))


def record_attributes(mapped: MappedStack, expected: object, recorded: object) -> None:
    """Record attributes whose values stand in the recorded properties of a resource that refers to them."""
    if is_unknown(expected):
        if len(expected.sources) == 1:
            name, attribute, *path = next(iter(expected.sources))
            state = mapped.current.get(str(name))
            if state is not None and attribute and recorded is not None:
                key = (attribute, *path)
                if state.type.path_in_attribute or not path:
                    state.stored.attributes.setdefault(attribute_text(key), recorded)  # type: ignore[arg-type]
    elif isinstance(expected, Mapping) and isinstance(recorded, Mapping):
        for key in expected.keys() & recorded.keys():
            record_attributes(mapped, expected[key], recorded[key])
    elif isinstance(expected, list) and isinstance(recorded, list) and len(expected) == len(recorded):
        for expected_item, recorded_item in zip(expected, recorded, strict=True):
            record_attributes(mapped, expected_item, recorded_item)


def record_references(mapped: MappedStack, desired: DesiredState, name: str, recorded: Mapping[str, object]) -> None:
    """Record as physical ID what stands for a resource in the recorded properties of one that refers to it.

    Heat records no physical ID for some types (`AWS::AutoScaling::LaunchConfiguration`), and yet has a reference ID
    that is not the resource's name: the physical name.
    """
    referred = {
        reference.resource for reference in desired.definition.resources[name].references if reference.attribute is None
    }
    for other in sorted(referred):
        state = mapped.current.get(other)
        if state is None or state.row.physical_id is not None or state.row.status != COMPLETE:
            continue
        unlike = f"{_MARK}{state.row.uuid}"
        state.row.physical_id = unlike
        candidates = set(_in_place_of(unlike, desired.target(name, mapped.scope).properties, recorded))
        state.row.physical_id = candidates.pop() if len(candidates) == 1 and candidates != {other} else None


_MARK = "\ue000"


def _in_place_of(mark: str, expected: object, recorded: object) -> Iterator[str]:
    """Yield the recorded strings where a value is expected to be the mark."""
    if expected == mark and isinstance(recorded, str):
        yield recorded
    elif isinstance(expected, Mapping) and isinstance(recorded, Mapping):
        for key in expected.keys() & recorded.keys():
            yield from _in_place_of(mark, expected[key], recorded[key])
    elif isinstance(expected, list) and isinstance(recorded, list) and len(expected) == len(recorded):
        for expected_item, recorded_item in zip(expected, recorded, strict=True):
            yield from _in_place_of(mark, expected_item, recorded_item)
