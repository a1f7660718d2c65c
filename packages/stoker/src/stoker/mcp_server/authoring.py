"""Tools that need no service: what templates can use, and what is wrong with one."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import Any

from stoker.authoring.lint import lint
from stoker.authoring.reference import (
    exact_type,
    function_details,
    function_names,
    matching_types,
    type_details,
    type_example,
    type_summaries,
)
from stoker.authoring.render import to_json
from stoker.authoring.sources import read, reason
from stoker.authoring.workspace import Workspace
from stoker.base.similar import closest
from stoker.cli.terminal.errors import CommandFailed
from stoker.plugins.registry import Registry
from stoker.template.type_hints import suggested_type

MOST_TYPES = 50
"""Types that one search shows."""


class AuthoringTools:
    """Templates are read in `directory` only."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @cached_property
    def _registry(self) -> Registry:
        return Registry.on_demand()

    def search_types(self, text: str) -> dict[str, object]:
        """List the resource types with this in their names or descriptions, such as "volume" or "floating"."""
        search_text = text.lower()
        known = type_summaries(self._registry, matching_types(self._registry, ""))
        found = [row for row in known if search_text in f"{row['type']} {row['description']}".lower()]
        return {"types": found[:MOST_TYPES], "number": len(found)}

    def describe_type(self, name: str) -> dict[str, Any]:
        """Show the properties and attributes of a resource type, what a change of each property does, and an example.

        "UPDATE" of a property means that the object is changed in place, "REPLACE" that it is replaced by a new one.
        """
        exact = exact_type(self._registry, name)
        if exact is None:
            hint = suggested_type(name, matching_types(self._registry, "")) or "search_types lists them."
            raise CommandFailed(f"There is no resource type {name}; {hint}")
        kind = self._registry.types[exact]
        return {**type_details(exact, kind), "example": type_example(exact, kind)}

    def describe_function(self, name: str) -> dict[str, object]:
        """Show what a function of templates does, such as get_attr or Fn::Sub, and the versions that have it."""
        found = function_details(name)
        if not found:
            names = function_names()
            meant = closest(name, names)
            hint = f"did you mean {meant}?" if meant else f"there are {', '.join(names)}."
            raise CommandFailed(f"There is no function {name}; {hint}")
        return {"functions": found}

    def lint_template(
        self, template: str, environments: list[str] | None = None, parameters: dict[str, str] | None = None
    ) -> dict[str, object]:
        """Check a template, with its environments, without a server. Each problem has its place, rule and hint."""
        paths = [str(self._directory / each) for each in (template, *(environments or ()))]
        for path in paths:
            self._require_readable(path)
        within = self._directory
        workspace = Workspace(
            self._registry, paths[1:], parameters or {}, reader=partial(read, within=within), within=within
        )
        return to_json(lint(workspace, paths[:1]), len(paths))

    def _require_readable(self, path: str) -> None:
        try:
            read(path, self._directory)
        except (OSError, UnicodeDecodeError) as error:
            raise CommandFailed(f"{path} cannot be read: {reason(error)}.") from None
