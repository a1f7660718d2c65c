"""equals, not, and, or and their CloudFormation names: the condition functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from stoker.base.diagnostics import Path
from stoker.schema.unknown import combine, is_unknown
from stoker.template.expressions import Evaluation, Expression, FunctionError, evaluate, items_of
from stoker.template.functions.base import Compiler, Function, variant
from stoker.template.problems import type_name


class ConditionName(Expression):
    """The name of a condition, where a condition is expected."""

    __slots__ = ("name", "path")

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path

    def evaluate(self, evaluation: Evaluation) -> object:
        try:
            return evaluation.tracked(evaluation.binding.condition(self.name))
        except FunctionError as error:
            error.path = error.path or self.path
            raise

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        return iter(())


class ConditionResult(Expression):
    """A function's value where a condition is expected: it must be a boolean."""

    __slots__ = ("call",)

    def __init__(self, call: Function) -> None:
        self.call = call

    def evaluate(self, evaluation: Evaluation) -> object:
        value = self.call.evaluate(evaluation)
        if isinstance(value, bool) or is_unknown(value):
            return value
        error = FunctionError(f"{self.call.name} returns {type_name(value)}, not a boolean", "StackValidationFailed")
        error.path = self.call.path
        raise error

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        return iter((self.call,))

    def all_children(self) -> Iterable[object]:
        return (self.call,)


@variant("equals/1")
class Equals(Function):
    """Whether two values are equal; takes the two values."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        return "takes a list of two values" if items is None or len(items) != 2 else None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        first, second = arguments
        return first == second


class Connective(Function):
    """A condition that combines conditions; it is decided as soon as one of them equals `decides`."""

    __slots__ = ()

    shape: ClassVar[str]
    decides: ClassVar[bool]

    @classmethod
    def compile(cls, name: str, arguments: Any, path: Path, compiler: Compiler) -> Function:
        operands = cls.operands(arguments)
        if operands is None:
            return cls(name, None, path)
        below = (*path, name)
        paths = [(*below, index) for index in range(len(operands))] if isinstance(arguments, list) else [below]
        compiled = [compiler.condition(item, place) for item, place in zip(operands, paths, strict=True)]
        return cls(name, compiled, path)

    @classmethod
    def operands(cls, arguments: object) -> list[object] | None:
        """Return the conditions among the arguments; None if there are too few."""
        return arguments if isinstance(arguments, list) and len(arguments) >= 2 else None

    def problem(self, arguments: Any) -> str | None:
        return self.shape if arguments is None else None

    def _evaluate(self, evaluation: Evaluation) -> object:
        undecided = []
        for operand in self.arguments:
            value = evaluate(operand, evaluation)
            if value is self.decides:
                return value
            undecided.append(value)
        return combine(undecided) if any(map(is_unknown, undecided)) else self.apply(undecided, evaluation)

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        return not self.decides

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        return iter(self.arguments)


@variant("and/1")
class And(Connective):
    """Whether all of two or more conditions are true; takes a list of them."""

    __slots__ = ()

    shape = "takes a list of two or more conditions"
    decides = False


@variant("or/1")
class Or(Connective):
    """Whether at least one of two or more conditions is true; takes a list of them."""

    __slots__ = ()

    shape = "takes a list of two or more conditions"
    decides = True


@variant("not/1")
class Not(Connective):
    """Whether a condition is false; takes the condition."""

    __slots__ = ()

    shape = "takes a condition"

    @classmethod
    def operands(cls, arguments: object) -> list[object] | None:
        return None if isinstance(arguments, list) else [arguments]

    def _evaluate(self, evaluation: Evaluation) -> object:
        value = evaluate(self.arguments[0], evaluation)
        return value if is_unknown(value) else not value


@variant("Fn::Not/1")
class FnNot(Not):
    """Whether a condition is false; takes a list with the one condition."""

    __slots__ = ()

    shape = "takes a list of one condition"

    @classmethod
    def operands(cls, arguments: Any) -> list[object] | None:
        return arguments if isinstance(arguments, list) and len(arguments) == 1 else None


@variant("Condition/1")
class NamedCondition(Connective):
    """Whether another condition is true; takes its name."""

    __slots__ = ()

    shape = "takes the name of a condition"

    @classmethod
    def operands(cls, arguments: Any) -> list[object] | None:
        return [arguments] if isinstance(arguments, str) else None

    def _evaluate(self, evaluation: Evaluation) -> object:
        return evaluate(self.arguments[0], evaluation)
