"""Classes for Stoker's template formats, from which plug-ins derive theirs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from heat.engine.function import BuiltInFunction
from stoker.template.versions import VERSIONS, Version
from stoker_heat_plugins.names import MANUAL


class _Refusing(type):
    """Refuses names that the classes do not have."""

    def __getattr__(cls, name: str) -> object:
        raise AttributeError(f"stoker-heat-plugins does not offer {cls.__name__}.{name} (see {MANUAL})")


class TemplateFormat(metaclass=_Refusing):
    """Base of the classes of Stoker's formats, each of which names its version by `value`."""

    version: ClassVar[Version]
    functions: ClassVar[Mapping[str, Any]]
    condition_functions: ClassVar[Mapping[str, object]]

    def __init_subclass__(cls, value: str | None = None) -> None:
        if value is None:
            return
        cls.version = version = next(each for each in VERSIONS if each.value == value)
        cls.functions = {name: _function(variant) for name, variant in version.functions.items()}
        cls.condition_functions = {name: _function(variant) for name, variant in version.condition_functions.items()}


@cache
def _function(variant: str) -> type[BuiltInFunction]:
    return type(variant, (BuiltInFunction,), {"variant": variant})
