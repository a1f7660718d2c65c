"""Names of the interface for plug-ins that have changed since 0.1.0: the former ones work for one release."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from enum import Enum
from functools import wraps


def accept_former_methods(cls: type, names: Mapping[str, str]) -> None:
    """Give a class that defines methods under their former names these methods under the new ones.

    `names` maps former names to new ones. Warns with a DeprecationWarning for each.
    """
    for former, name in names.items():
        method = cls.__dict__.get(former)
        if method is not None and name not in cls.__dict__:
            text = f"{cls.__qualname__}: the method `{former}` is called `{name}` since 0.2.0."
            warnings.warn(text, DeprecationWarning, stacklevel=3)
            setattr(cls, name, method)


def accept_former_overrides(cls: type, names: Mapping[str, str]) -> None:
    """As `accept_former_methods`, for methods that subclasses extend: a class that defines one under its new name has
    it under the former one too, so that `super()` with the former name continues with the next class.

    Calls of the former name warn with a DeprecationWarning.
    """
    accept_former_methods(cls, names)
    for former, name in names.items():
        method = cls.__dict__.get(name)
        if method is not None and former not in cls.__dict__:
            setattr(cls, former, _deprecated(method, f"{cls.__qualname__}: the method `{former}` is called `{name}`"))


def _deprecated(method: Callable[..., object], text: str) -> Callable[..., object]:
    @wraps(method)
    def call(*arguments: object, **named: object) -> object:
        warnings.warn(f"{text} since 0.2.0.", DeprecationWarning, stacklevel=2)
        return method(*arguments, **named)

    return call


def _name_of(found: object) -> str:
    if isinstance(found, Enum):
        return found.name
    return str(getattr(found, "__name__", found))


def former_name(module: str, former: str, names: Mapping[str, object]) -> object:
    """Return what an attribute with a former name is now, for the `__getattr__` of a module or of an enumeration's
    class.

    `module` is the path to either, `names` maps former names to the objects. Warns with a DeprecationWarning; raises
    AttributeError for other names.
    """
    if former not in names:
        raise AttributeError(f"module {module!r} has no attribute {former!r}")
    found = names[former]
    text = f"`{module}.{former}` is called `{_name_of(found)}` since 0.2.0."
    warnings.warn(text, DeprecationWarning, stacklevel=3)
    return found
