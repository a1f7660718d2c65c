"""Where the values of parameters come from: the command line, an environment, or the template itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from stoker.base.diagnostics import Diagnostic, Key
from stoker.template.document import Document

_ABOUT_VALUES = frozenset({"unknown-parameter", "parameter-value", "parameter-constraint", "constraint"})
_SECTIONS = ("parameters", "parameter_defaults")
"""The sections of an environment with values, by precedence."""


def placed_where_given(
    diagnostics: Iterable[Diagnostic],
    templates: Collection[str],
    environments: Sequence[Document],
    options: Collection[str],
) -> list[Diagnostic]:
    """Return diagnostics, those about the values of parameters with the place where the value was written.

    `templates` are the names of the root template, whose parameters these are; later `environments` override earlier
    ones, and `options`, the names that were given on the command line, override all.
    """
    return [
        _placed(item, environments, options)
        if item.rule in _ABOUT_VALUES
        and item.source in templates
        and len(item.path) == 2
        and str(item.path[0]).lower() == "parameters"
        else item
        for item in diagnostics
    ]


def option_name(parameter: str) -> str:
    """Return the source of diagnostics about the value of a parameter that was given besides environments."""
    return f"-P {parameter}"


def _placed(item: Diagnostic, environments: Sequence[Document], options: Collection[str]) -> Diagnostic:
    name = str(item.path[1])
    if name in options:
        return replace(item, source=option_name(name), position=None, path=())
    for section in _SECTIONS:
        for document in reversed(environments):
            values = document.data.get(section)
            if isinstance(values, dict) and name in values:
                last = Key(name) if item.rule == "unknown-parameter" else name
                position = document.locate((section, last))
                return replace(item, source=document.source, position=position, path=(section, name))
    return item
