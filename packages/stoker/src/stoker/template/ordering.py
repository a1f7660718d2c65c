"""The order of a template's resources: requirements first."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from stoker.template.cycles import topological, would_close_cycle
from stoker.template.problems import Problems
from stoker.template.template import Template

__all__ = ["in_order", "topological", "would_close_cycle"]


def in_order(requires: Mapping[str, Collection[str]], template: Template) -> list[str]:
    """Return the names as `topological` does.

    Raises TemplateInvalid (CircularDependencyException) with the members of a cycle.
    """
    names, cycle = topological(requires)
    if cycle:
        problems = Problems(template.document)
        problems.add(
            "circular-dependency",
            f"circular dependency: {' → '.join([*cycle, cycle[0]])}",
            (template.written("resources"), cycle[0]),
            kind="CircularDependencyException",
        )
        problems.raise_if_any()
    return names
