"""if: one of two values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from stoker.base.diagnostics import Path
from stoker.schema.unknown import Unknown
from stoker.template.expressions import OMIT, Evaluation, evaluate
from stoker.template.functions.base import Compiler, Function, variant


@variant("if/1")
class If(Function):
    """One of two values, as a condition decides; takes the condition and the values for true and false."""

    __slots__ = ()

    sizes: ClassVar[tuple[int, ...]] = (3,)

    @classmethod
    def compile(cls, name: str, arguments: Any, path: Path, compiler: Compiler) -> Function:
        if not isinstance(arguments, list) or len(arguments) not in cls.sizes:
            return cls(name, None, path)
        below = (*path, name)
        condition = True if arguments[0] is None else compiler.condition(arguments[0], (*below, 0))
        branches = [compiler.branch(value, (*below, index)) for index, value in enumerate(arguments[1:], 1)]
        return cls(name, (condition, *branches), path)

    def problem(self, arguments: Any) -> str | None:
        if arguments is None:
            return (
                f"takes a list of {' or '.join(map(str, self.sizes))}: a condition, a value if true, a value if false"
            )
        return None

    def _evaluate(self, evaluation: Evaluation) -> object:
        condition = evaluate(self.arguments[0], evaluation)
        if isinstance(condition, Unknown):
            return evaluation.tracked(condition)
        return self.apply(condition, evaluation)

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        position = 1 if arguments else 2
        return evaluate(self.arguments[position], evaluation) if position < len(self.arguments) else OMIT

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        condition = evaluate(self.arguments[0], evaluation)
        if isinstance(condition, Unknown):
            return iter(self.arguments)
        return iter(self.arguments[1:2] if condition else self.arguments[2:])


@variant("if/2")
class IfOrNothing(If):
    """One of two values, as a condition decides; takes the condition and the values for true and false.

    Without the third argument a false condition omits the property, map key or list item whose value the call is.
    """

    __slots__ = ()

    sizes = (2, 3)
