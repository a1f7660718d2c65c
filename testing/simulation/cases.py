"""Sets of resources for every resource type: tests create them, and the first of a type is its example in the manual.

`lost_answers.yaml` has types that create objects, `local_types.yaml` those that do not. A set has resources by name, of
which `thing` is the properties of the resource of the type itself; the others are created before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
THING = "thing"
_TWIN = "twin"
_VERSION = "2021-04-16"

Cases = dict[str, list[dict[str, Any]]]


def creating() -> Cases:
    """Return the sets of resources for types that create objects, by type."""
    cases: Cases = yaml.safe_load((FOLDER / "lost_answers.yaml").read_text(encoding="utf-8"))
    return cases


def local() -> Cases:
    """Return the sets of resources for types that create no objects, by type."""
    cases: Cases = yaml.safe_load((FOLDER / "local_types.yaml").read_text(encoding="utf-8"))
    return cases


def template(name: str, case: Mapping[str, Any], called: str = THING) -> dict[str, Any]:
    """Return a template that creates a resource of the type `name`, called `called`, after everything else."""
    others = {key: value for key, value in case.items() if key != THING}
    thing: dict[str, Any] = {"type": name}
    if unconnected := sorted(others.keys() - _needed(case[THING], others)):
        thing["depends_on"] = unconnected
    if case[THING]:
        thing["properties"] = case[THING]
    return {"heat_template_version": _VERSION, "resources": {**others, called: thing}}


def example(name: str, cases: Sequence[Mapping[str, Any]]) -> str:
    """Return the example of a type as YAML: its first case, without the second object that tests add."""
    case = {key: value for key, value in cases[0].items() if key != _TWIN}
    called = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.rpartition("::")[2]).lower()
    while called in case:
        called = f"the_{called}"
    return yaml.dump(template(name, case, called), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=100)


def _needed(value: Any, others: Mapping[str, Any]) -> set[str]:
    """Return the names of the resources that a value refers to, directly or through one of the others."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        for name in _references(waiting.pop()):
            if name in others and name not in found:
                found.add(name)
                waiting.append(others[name])
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in ("get_resource", "depends_on") and isinstance(inner, str):
                yield inner
            elif key in ("get_attr", "depends_on") and isinstance(inner, list):
                yield from (inner[:1] if key == "get_attr" else inner)
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


class _Plain(yaml.SafeDumper):
    """Writes values that occur twice twice, and the elements of lists below their key."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)
