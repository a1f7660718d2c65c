"""The order in which the stacks of a project are deployed, so that every one finds what it needs, and none is stuck.

Outputs, `depends_on` and exports that are imported say which stack comes first. An export that is in use cannot be
removed: a stack that no longer imports it comes before the one that removes it. Where that contradicts the rest, the
removing stack is deployed twice: first with the export kept, and without it as soon as nobody imports it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from stoker.template.ordering import topological, would_close_cycle


@dataclass(frozen=True, slots=True)
class Shared:
    """The names of the exports that a stack has and imports as its files say."""

    exports: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Exported:
    """An export that there is in the cloud: its stack, its value, the stacks that import it.

    Stacks have their names in the project, or in the cloud if they are not in the project.
    """

    stack: str
    value: Any
    importers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """A deployment of a stack. `kept` are exports that it keeps for now, although its template has lost them.

    `is_last` is whether the stack has the definition of its files afterwards.
    """

    name: str
    stack: str
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_last(self) -> bool:
        return not self.kept


@dataclass(frozen=True, slots=True)
class Order:
    """The steps by name, in a possible order, and the names of the steps before each."""

    steps: Mapping[str, Step]
    before: Mapping[str, frozenset[str]]


def imports_of(shared: Mapping[str, Shared]) -> dict[str, dict[str, str]]:
    """Return, for each stack, the other stacks of the project whose exports it imports, each with one of them."""
    owners = {export: stack for stack, its in shared.items() for export in sorted(its.exports)}
    return {
        stack: {
            owners[export]: export for export in sorted(its.imports) if export in owners and owners[export] != stack
        }
        for stack, its in shared.items()
    }


def order_of(
    requires: Mapping[str, Collection[str]],
    shared: Mapping[str, Shared],
    present: Mapping[str, Exported],
    losing: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Order:
    """Return the order of a deployment.

    `requires` has no circular dependency; its order is kept where possible. `present` are the exports in the cloud.
    `losing` are the stacks that take resources of others, by these: where possible, they come first.
    """
    before = {stack: set(others) for stack, others in requires.items()}
    for stack, others in losing.items():
        for other in sorted(others):
            if not would_close_cycle(before, stack, other):
                before[stack].add(other)
    kept_exports: dict[str, dict[str, object]] = {}
    released: dict[str, set[str]] = {}
    for export, exported in sorted(present.items()):
        exporter = exported.stack
        if exporter not in before:
            continue
        leaving = sorted(name for name in exported.importers if name in shared and export not in shared[name].imports)
        for importer in leaving:
            if not would_close_cycle(before, exporter, importer):
                before[exporter].add(importer)
            elif export not in shared[exporter].exports:
                kept_exports.setdefault(exporter, {})[export] = exported.value
                released.setdefault(exporter, set()).add(importer)
        for other, its in shared.items():  # the export moves to another stack
            if other != exporter and export in its.exports and not would_close_cycle(before, other, exporter):
                before[other].add(exporter)
    steps = {stack: Step(stack, stack, kept_exports.get(stack, {})) for stack in topological(before)[0]}
    for exporter, importers in released.items():
        name = f"{exporter} (again)"
        steps[name] = Step(name, exporter)
        before[name] = {exporter, *importers}
    return Order(steps, {name: frozenset(before[name]) for name in steps})


def removal_order(
    stacks: Sequence[str], requires: Mapping[str, Collection[str]], present: Mapping[str, Exported]
) -> dict[str, frozenset[str]]:
    """Return, for each stack, the stacks that are deleted before it: those that need it, or import what it exports."""
    before: dict[str, set[str]] = {stack: set() for stack in stacks}
    for export in present.values():
        if export.stack in before:
            before[export.stack] |= {name for name in export.importers if name in before}
    for stack, others in requires.items():
        for other in others:
            if stack in before and other in before and not would_close_cycle(before, other, stack):
                before[other].add(stack)
    return {stack: frozenset(others) for stack, others in before.items()}
