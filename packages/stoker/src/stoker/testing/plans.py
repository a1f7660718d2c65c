"""Plans of stacks, as tests look at them."""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console

from stoker.authoring.plan_steps import changes, shown_kind
from stoker.base.diagnostics import Diagnostic
from stoker.cli.terminal.places import path_of
from stoker.cli.views.plans import plan_lines

_WIDTH = 100
_RANDOM = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"-[a-z2-7]{12}\b"), "-<random>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done to the stack `name`; `data` is the plan as `stoker plan -f json` has it.

    `denials` are what policies deny, at its places in the user's files.
    """

    name: str
    data: dict[str, Any] = field(repr=False)
    denials: tuple[Diagnostic, ...] = field(default=(), repr=False)

    @property
    def actions(self) -> dict[str, str]:
        """What is done (`create`, `update`, `replace`, `delete` …), by the path of the resource (`group.0.server`)."""
        return {step["path"]: shown_kind(step) for step in changes(self.data)}

    @property
    def counts(self) -> dict[str, int]:
        """The number of resources by what is done to them; what is not done is not there."""
        return dict(Counter(self.actions.values()))

    def paths(self, action: str) -> list[str]:
        """The paths of the resources to which something is done, such as `replace`."""
        return [path for path, done in self.actions.items() if done == action]

    @property
    def changed_properties(self) -> dict[str, set[str]]:
        """The names of the properties that differ, by the path of the resource."""
        return {step["path"]: {change["property"] for change in step["changes"]} for step in changes(self.data)}

    @property
    def text(self) -> str:
        """The plan as `stoker plan` shows it, with `<id>`, `<random>` and `<time>` for what differs each time."""
        return self.shown(Path.cwd())

    def shown(self, folder: Path) -> str:
        """The same, in which the names of nested templates are relative to a folder."""
        out = Console(file=io.StringIO(), width=_WIDTH, color_system=None)
        steps = [{**step, "type": _relative(step["type"], folder)} for step in self.data["steps"]]
        lines = plan_lines(self.name, {**self.data, "steps": steps}, out)
        shown = "\n".join(line.plain.rstrip() for line in lines)
        for pattern, word in _RANDOM:
            shown = pattern.sub(word, shown)
        return f"{shown}\n"


def _relative(type_name: str, folder: Path) -> str:
    """Return a resource type, that of a nested template in a file as its path from a folder."""
    if urlsplit(type_name).scheme != "file":
        return type_name
    return Path(os.path.relpath(path_of(type_name), folder.absolute())).as_posix()
