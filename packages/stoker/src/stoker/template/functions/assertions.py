"""The functions of the Rules section: functions about lists, and about the values of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from stoker.schema.unknown import combine, has_unknown
from stoker.template.expressions import Evaluation, items_of
from stoker.template.functions.base import Function, is_list, scalar_as_text, variant

_COMPARISONS_PER_STEP = 8


class _ListQuestion(Function):
    """A predicate about a list and a second value."""

    __slots__ = ()

    shape: ClassVar[str]

    def problem(self, arguments: Any) -> str | None:
        items = items_of(arguments)
        return f"takes a list of two: {self.shape}" if items is None or len(items) != 2 else None

    def lists(self, *values: object) -> None:
        """Raise FunctionError unless all values are lists."""
        if not all(map(is_list, values)):
            raise self.wrong_type(f"takes {self.shape}")


@variant("Fn::Contains/1")
class FnContains(_ListQuestion):
    """Whether a value is in a list; takes the list and the value."""

    __slots__ = ()

    shape = "a list of strings and a string"

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        items, value = arguments
        self.lists(items)
        return scalar_as_text(value) in map(scalar_as_text, items)


@variant("Fn::EachMemberEquals/1")
class FnEachMemberEquals(_ListQuestion):
    """Whether every item of a list equals a value; takes the list and the value."""

    __slots__ = ()

    shape = "a list of strings and a string"

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        items, value = arguments
        self.lists(items)
        return all(scalar_as_text(item) == scalar_as_text(value) for item in items)


@variant("Fn::EachMemberIn/1")
class FnEachMemberIn(_ListQuestion):
    """Whether every item of a list is in another one; takes the two lists."""

    __slots__ = ()

    shape = "two lists of strings"

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        items, others = arguments
        self.lists(items, others)
        evaluation.budget.charge(len(items) * len(others) // _COMPARISONS_PER_STEP)
        texts = [scalar_as_text(other) for other in others]
        return all(scalar_as_text(item) in texts for item in items)


@variant("Fn::RefAll/1")
class FnRefAll(Function):
    """The values of all parameters of a type; takes the name of the type."""

    __slots__ = ()

    def problem(self, arguments: Any) -> str | None:
        return None if isinstance(arguments, str) else "takes the name of a parameter type"

    def parameters_named(self) -> Sequence[str] | None:
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        return evaluation.tracked(_values_of(arguments, evaluation))


def _values_of(kind: str, evaluation: Evaluation) -> list[object]:
    binding = evaluation.binding
    return [binding.parameter(name) for name in binding.parameters_of_type(kind)]


class _AttributeOfValue(Function):
    """Takes a parameter or a parameter type, and the name of an attribute of the objects that the values name."""

    __slots__ = ()

    shape: ClassVar[str]

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        fits = items is not None and len(items) == 2 and all(isinstance(item, str) for item in items)
        return None if fits else f"takes a list of two strings: {self.shape} and an attribute"

    def attribute(self, kind: str, value: Any, attribute: str, evaluation: Evaluation) -> object:
        """Return the attribute of the object that `value`, of parameter type `kind`, names; raises FunctionError."""
        look_up = evaluation.binding.look_up
        if look_up is None:
            raise self.wrong(f"the {attribute} of a {kind} cannot be looked up here", "StackValidationFailed")
        if has_unknown(value):
            return combine([value])
        if is_list(value):
            return [look_up(kind, item, attribute) for item in value]
        return look_up(kind, value, attribute)


@variant("Fn::ValueOf/1")
class FnValueOf(_AttributeOfValue):
    """An attribute of the object that a parameter's value names; takes the parameter and the attribute."""

    __slots__ = ()

    shape = "the name of a parameter"

    def parameters_named(self) -> Sequence[str] | None:
        return (self.arguments[0],) if self.arguments else None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        name, attribute = arguments
        kind = evaluation.binding.type_of_parameter(name)
        value = evaluation.binding.parameter(name)
        return evaluation.tracked(
            self.attribute(kind.removeprefix("List<").removesuffix(">"), value, attribute, evaluation)
        )


@variant("Fn::ValueOfAll/1")
class FnValueOfAll(_AttributeOfValue):
    """An attribute of all objects that parameters of a type name; takes the type and the attribute."""

    __slots__ = ()

    shape = "the name of a parameter type"

    def parameters_named(self) -> Sequence[str] | None:
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        kind, attribute = arguments
        return evaluation.tracked(
            [self.attribute(kind, value, attribute, evaluation) for value in _values_of(kind, evaluation)]
        )
