"""Convert the values and functions of a template to another format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.base.diagnostics import Diagnostic, Key, Path
from stoker.template.template import Template
from stoker.template.versions import Version

Translate = Callable[["Walker", Any, Path], Any]
"""Converts the arguments of a function call, given with their position; raises NotExpressible."""


LOOP = "Fn::ForEach::"
"""Prefix of the keys that generate several entries in CloudFormation."""


class NotExpressible(Exception):
    """The other format has no equivalent; the message says why."""


class Walker:
    """Converts values or, with the functions for conditions, conditions.

    Parts that cannot be converted are left unchanged and added to `problems`, which the walkers of a conversion share.
    """

    def __init__(
        self,
        template: Template,
        target: Version,
        calls: Mapping[str, Translate],
        problems: list[Diagnostic],
        *,
        in_conditions: bool = False,
    ) -> None:
        source = template.version
        self.template = template
        self.target = target
        self.problems = problems
        self._calls = calls
        self._known = source.condition_functions if in_conditions else source.functions
        self._allowed = target.condition_functions if in_conditions else target.functions
        self.conditions = self if in_conditions else Walker(template, target, calls, problems, in_conditions=True)

    def value(self, snippet: Any, path: Path) -> Any:
        """Return the value in the other format."""
        if isinstance(snippet, list):
            return [self.value(item, (*path, index)) for index, item in enumerate(snippet)]
        if not isinstance(snippet, Mapping):
            return snippet
        if len(snippet) == 1:
            ((name, arguments),) = snippet.items()
            if name in self._known or name in self._allowed:
                return self._call(name, arguments, path)
        return {key: self._entry(key, item, (*path, key)) for key, item in snippet.items()}

    def _entry(self, key: str, item: object, path: Path) -> object:
        if key.startswith(LOOP):
            self.note("HOT has no loops over the entries of a map", path)
            return item
        return self.value(item, path)

    def condition(self, snippet: object, path: Path) -> object:
        """Return a condition in the other format; names of conditions are kept."""
        return self.conditions.value(snippet, path)

    def _call(self, name: str, arguments: object, path: Path) -> object:
        place = (*path, name)
        try:
            if name not in self._known:
                raise NotExpressible(f"{name} is plain data in this format but would be a function in the other")
            translate = self._calls.get(name) or renamed(name)
            return translate(self, arguments, place)
        except NotExpressible as problem:
            self.note(str(problem), place)
            return {name: arguments}

    def made(self, name: str, arguments: object) -> dict[str, Any]:
        """Return a function call in the other format. Raises NotExpressible if that has no equivalent in this place."""
        if name not in self._allowed:
            raise NotExpressible(f"{self.target.value} has no {name} here")
        return {name: arguments}

    def note(self, message: str, path: Path) -> None:
        """Record a part that cannot be converted."""
        document = self.template.document
        position = document.locate((*path[:-1], Key(path[-1])))
        self.problems.append(
            Diagnostic("not-expressible", message, path, document.source, position, kind="NotSupported")
        )


def renamed(name: str) -> Translate:
    """Return a converter for a function that has another name but the same arguments in the other format."""

    def translate(walker: Walker, arguments: object, path: Path) -> object:
        made = walker.made(name, None)
        made[name] = walker.value(arguments, path)
        return made

    return translate


def items(arguments: Any, *sizes: int) -> list[Any]:
    """Return the arguments of a call, which must be literal. Raises NotExpressible for another number of arguments."""
    if not isinstance(arguments, list) or len(arguments) not in sizes:
        raise NotExpressible("its arguments are computed by another function")
    return arguments


def is_call(walker: Walker, snippet: object) -> bool:
    """Return whether a value is a function call in the source template."""
    return (
        isinstance(snippet, Mapping) and len(snippet) == 1 and next(iter(snippet)) in walker.template.version.functions
    )
