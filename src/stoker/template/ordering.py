"""Putting a template's resources in order: requirements first."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from stoker.template.circles import topological, would_close_circle
from stoker.template.problems import Problems
from stoker.template.template import Template

__all__ = ["in_order", "topological", "would_close_circle"]


def in_order(requires: Mapping[str, Collection[str]], template: Template) -> list[str]:
    """As `topological`; a circle is raised as TemplateInvalid (CircularDependencyException) naming its members."""
    names, circle = topological(requires)
    if circle:
        problems = Problems(template.document)
        problems.add(
            "circular-dependency",
            f"these resources need each other: {' → '.join([*circle, circle[0]])}",
            (template.written("resources"), circle[0]),
            kind="CircularDependencyException",
        )
        problems.raise_if_any()
    return names
