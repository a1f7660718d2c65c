"""Template formats that packages offer for Heat in the group `heat.templates`, with their functions.

The name of an entry point is the key and the value with which templates state the format, such as
`heat_template_version.2030-01-01`; it refers to a class derived from one of those in `heat.engine.hot.template`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Any, ClassVar

from stoker.base.extensions import PluginInvalid
from stoker.template.expressions import Evaluation, Expression, FunctionError
from stoker.template.functions.base import Function
from stoker.template.versions import Version
from stoker_heat_plugins.entry_points import package_of
from stoker_heat_plugins.names import MANUAL

GROUP = "heat.templates"

_PARTS = ("functions", "condition_functions")
_OWN_REFERENCES = ("dependencies", "dep_attrs", "all_dep_attrs")


class _NoStack:
    """Replaces the stack: the value of a function depends on its arguments alone."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"stoker-heat-plugins does not offer `stack.{name}` to template functions (see {MANUAL})")


_NO_STACK = _NoStack()


class HeatFunction(Function):
    """Calls the class of a plug-in's function."""

    __slots__ = ()
    plugin: ClassVar[Any]

    def problem(self, arguments: object) -> str | None:
        if isinstance(arguments, Expression):
            return None
        try:
            self._made(arguments).validate()
        except Exception as error:
            return f"is refused by its plug-in: {_message(error)}"
        return None

    def apply(self, arguments: object, evaluation: Evaluation) -> Any:
        from heat.engine.template import plain

        try:
            made = self._made(arguments)
            made.validate()
            return plain(made.result())
        except Exception as error:
            raise FunctionError(f"{self.name}: {_message(error)}", type(error).__name__) from error

    def _made(self, arguments: Any) -> Any:
        return self.plugin(_NO_STACK, self.name, deepcopy(arguments))


def _message(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Unsupported(Exception):
    """A format that Stoker cannot offer."""


class _Formats:
    """The formats of the installed packages, and the classes of their functions by variant and by the class's name."""

    def __init__(self) -> None:
        self.versions: list[Version] = []
        self.variants: dict[str, type[HeatFunction]] = {}
        self.classes: dict[str, type[HeatFunction]] = {}
        problems: list[str] = []
        for entry_point in metadata.entry_points(group=GROUP):
            try:
                self.versions.append(self._version(entry_point.name, entry_point.load()))
            except Exception as error:
                reason = str(error) if isinstance(error, _Unsupported) else f"{type(error).__name__}: {error}"
                problems.append(
                    f"{package_of(entry_point)} ({GROUP}: {entry_point.name} = {entry_point.value}): the template "
                    f"format cannot be used: {reason}. Uninstall the package, or write the format for Stoker ({MANUAL})"
                )
        if problems:
            raise PluginInvalid(problems)

    def _version(self, name: str, plugin: object) -> Version:
        from stoker_heat_plugins.format_classes import TemplateFormat

        if not (isinstance(plugin, type) and issubclass(plugin, TemplateFormat)):
            raise _Unsupported(f"{plugin!r} must be a class derived from one in heat.engine.hot.template")
        for cls in plugin.__mro__:
            if issubclass(cls, TemplateFormat) and "version" in vars(cls):
                break
            _refuse_other_parts(cls)
        key, _, value = name.partition(".")
        functions = self._functions(name, plugin.functions)
        return replace(
            plugin.version,
            key=key,
            value=value,
            aliases=(),
            functions=functions,
            condition_functions=self._functions(name, plugin.condition_functions),
            removed_functions=plugin.version.removed_functions | plugin.version.functions.keys() - functions.keys(),
        )

    def _functions(self, version: str, named: Mapping[str, object]) -> dict[str, str]:
        return {name: self._variant(version, name, plugin) for name, plugin in named.items() if plugin is not None}

    def _variant(self, version: str, name: str, plugin: object) -> str:
        """Return the variant that a function's class stands for, or that is made for it."""
        from heat.engine import function

        if not (isinstance(plugin, type) and issubclass(plugin, function.Function)):
            raise _Unsupported(f"{name}: {plugin!r} must be a class derived from heat.engine.function.Function")
        if issubclass(plugin, function.BuiltInFunction):
            if "variant" in vars(plugin):
                return plugin.variant
            raise _Unsupported(f"{name}: {plugin.__qualname__} extends a function of Heat; derive it from Function")
        for method in _OWN_REFERENCES:
            if getattr(plugin, method) is not getattr(function.Function, method):
                raise _Unsupported(
                    f"{name}: {plugin.__qualname__}.{method} would not be called: a function gets the values of its "
                    "arguments, and cannot refer to resources itself"
                )
        variant = f"{version}:{plugin.__module__}.{plugin.__qualname__}"
        if variant not in self.variants:
            class_name = f"{plugin.__name__}_{len(self.variants)}"
            made = type(
                class_name,
                (HeatFunction,),
                {"__slots__": (), "__module__": __name__, "__doc__": plugin.__doc__, "plugin": plugin},
            )
            self.variants[variant] = self.classes[class_name] = made
        return variant


def _refuse_other_parts(cls: type[object]) -> None:
    others = [name for name in vars(cls) if name not in _PARTS and not name.startswith("__")]
    if others:
        raise _Unsupported(
            f"{cls.__qualname__} defines {', '.join(sorted(others))}: of a format, only {' and '.join(_PARTS)} can "
            "differ from the one that it derives from"
        )


@cache
def _formats() -> _Formats:
    return _Formats()


def forget() -> None:
    """Read the entry points again when they are needed next."""
    _formats.cache_clear()


class _Versions(Iterable[Version]):
    def __iter__(self) -> Iterator[Version]:
        return iter(_formats().versions)


class _Functions(Mapping[str, type[Function]]):
    def __getitem__(self, name: str) -> type[Function]:
        return _formats().variants[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_formats().variants)

    def __len__(self) -> int:
        return len(_formats().variants)


VERSIONS = _Versions()
FUNCTIONS = _Functions()


def __getattr__(name: str) -> type[HeatFunction]:
    """Return the class of a function by its name, for templates that another process has compiled."""
    if not name.startswith("_") and name in _formats().classes:
        return _formats().classes[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
