"""Fn::ToJsonString and Fn::Length, which the transform AWS::LanguageExtensions adds."""

from __future__ import annotations

from stoker.template.expressions import Evaluation, Expression, entries_of, items_of
from stoker.template.functions.base import Function, is_list, is_map, variant


@variant("Fn::ToJsonString/1")
class FnToJsonString(Function):
    """A map or list as a JSON string."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        fits = isinstance(arguments, Expression) or items_of(arguments) is not None or entries_of(arguments) is not None
        return None if fits else "takes a map or a list"

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not is_map(arguments) and not is_list(arguments):
            raise self.wrong_type("takes a map or a list")
        return self.written(arguments, evaluation, separators=(",", ":"))


@variant("Fn::Length/1")
class FnLength(Function):
    """The number of items in a list."""

    __slots__ = ()

    accepts_unknown = True

    def problem(self, arguments: object) -> str | None:
        fits = isinstance(arguments, Expression) or items_of(arguments) is not None
        return None if fits else "takes a list"

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not is_list(arguments):
            raise self.wrong_type("takes a list")
        return len(arguments)
