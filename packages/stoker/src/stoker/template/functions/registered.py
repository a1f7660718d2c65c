"""The functions that templates can use: those that the installed packages offer."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.base.extensions import PluginInvalid, remembered, table
from stoker.template.functions.base import Function

GROUP = "stoker.template_functions"


@remembered
def functions() -> Mapping[str, type[Function]]:
    """Return the classes of functions by the names of their variants. Raises PluginInvalid."""
    found = table(GROUP, type)
    problems = [
        f"{GROUP}: {name!r} must be a class derived from Function"
        for name in found
        if not issubclass(found[name], Function)
    ]
    if problems:
        raise PluginInvalid(problems)
    return found
