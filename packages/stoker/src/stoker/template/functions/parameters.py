"""get_param: the value of a parameter, or a part of it."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.schema.unknown import combine
from stoker.template.expressions import Evaluation, items_of
from stoker.template.functions.base import Function, is_list, is_map, variant
from stoker.template.paths import follow_parameter


@variant("get_param/1")
class GetParam(Function):
    """A parameter's value: a name, or a list of a name and the keys and indexes that lead into the value.

    A missing key or index yields an empty string.
    """

    __slots__ = ()

    accepts_unknown = True

    def parameters_named(self) -> Sequence[str] | None:
        items = items_of(self.arguments)
        name = items[0] if items else self.arguments
        return (name,) if isinstance(name, str) else None

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not arguments and not is_map(arguments):
            raise self.wrong("the name of a parameter is missing")
        if evaluation.blocked(arguments):
            return combine([arguments])
        name, path = (arguments[0], arguments[1:]) if is_list(arguments) else (arguments, ())
        if not isinstance(name, str):
            raise self.wrong_type("the name of a parameter must be a string")
        if any(is_list(part) or is_map(part) for part in path):
            raise self.wrong_type("the path into a parameter's value must consist of keys and indexes")
        return evaluation.tracked(follow_parameter(evaluation.binding.parameter(name), path))
