"""The functions of Heat's and CloudFormation's template formats: those of every module of this package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from stoker.template import functions
from stoker.template.functions.base import Function, variants_in

_NO_FUNCTIONS = frozenset({"base", "builtin", "registered"})

FUNCTIONS: Mapping[str, type[Function]] = variants_in(
    import_module(f"{functions.__name__}.{module.name}")
    for module in iter_modules(functions.__path__)
    if module.name not in _NO_FUNCTIONS
)
"""The functions by the names of their variants."""
