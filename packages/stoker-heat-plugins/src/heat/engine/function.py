"""The base class of template functions.

A function is called when the values of its arguments are known: `args` contains no other functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar


class Function:
    """Derive from this class, override `result`, and name the class in `functions` of a template class."""

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        self.stack, self.fn_name, self.args = stack, fn_name, args

    def validate(self) -> None:
        """Raise an exception if the arguments are invalid."""

    def result(self) -> Any:
        """Return the value of the call."""
        raise NotImplementedError(f"{type(self).__name__} must override result")

    def dependencies(self, path: str) -> Iterator[object]:
        """Return the resources on which the call itself depends: none."""
        return iter(())

    def dep_attrs(self, resource_name: str) -> Iterator[object]:
        """Return the attributes that the call itself reads: none."""
        return iter(())

    def all_dep_attrs(self) -> Iterator[object]:
        """Return the attributes of all resources that the call itself reads: none."""
        return iter(())


class BuiltInFunction(Function):
    """A function of Stoker, as template classes name it; it can be named under other names, too."""

    variant: ClassVar[str]


def resolve(snippet: object, nullable: bool = False) -> Any:
    """Return the value of a part of the arguments, which is the part itself."""
    return snippet


def validate(snippet: object, path: object = None) -> None:
    """Check the calls in a part of the arguments, of which there are none."""
