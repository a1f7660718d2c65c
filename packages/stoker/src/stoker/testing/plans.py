"""Plans of stacks, as tests look at them."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from stoker.authoring.plan_steps import VERBS, changes, shown_kind
from stoker.cli.views.plans import plan_lines

ACTIONS = tuple(VERBS)
"""What a step does to a resource."""

_WIDTH = 100
_RANDOM = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"-[a-z2-7]{12}\b"), "-<random>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done to the stack `name`; `data` is the plan as `stoker plan -f json` has it."""

    name: str
    data: dict[str, Any] = field(repr=False)

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
        out = Console(file=io.StringIO(), width=_WIDTH, color_system=None)
        shown = "\n".join(line.plain.rstrip() for line in plan_lines(self.name, self.data, out))
        for pattern, word in _RANDOM:
            shown = pattern.sub(word, shown)
        return f"{shown}\n"
