"""What every function has, and the table of all variants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from stoker.base.budget import ITEM_BYTES, measured
from stoker.base.diagnostics import Path
from stoker.schema.unknown import Unknown, combine
from stoker.template.expressions import OMIT, Evaluation, Expression, FunctionError, evaluate

VARIANTS: dict[str, type[Function]] = {}
"""Every variant of every function by its own name; versions map the names that templates use to these."""


_WITHOUT_PARTS = frozenset({bool, int, float, type(None), Unknown, type(OMIT)})
_FEW_STEPS = 8
"""Plain arguments of so few items are charged for with the list or map that the call stands in."""


class Compiler(Protocol):
    """What a function may ask for while it is compiled."""

    def value(self, snippet: Any, path: Path) -> Any:
        """A compiled tree, or the snippet itself when it holds no call."""

    def branch(self, snippet: Any, path: Path) -> Any:
        """As `value`, for a tree that may never be looked at: complaints wait inside it until it is."""

    def condition(self, snippet: Any, path: Path) -> Any:
        """A compiled condition: a boolean, a name or a condition function."""


class Function(Expression):
    """A call. `arguments` is compiled: plain data, a node that holds calls, or itself a call.

    Two kinds of wrong arguments are told apart, as Heat does (facts: engine_functions.yaml, stages). `complaint` finds
    those that are plain from the shape, already while the template is loaded; `apply` finds the rest on real values.
    `accepts_unknown` functions are called although there is an unknown inside their arguments; none is called with an
    unknown for its arguments.
    """

    __slots__ = ("_steps", "arguments", "name", "path")

    accepts_unknown: ClassVar[bool] = False

    def __init__(self, name: str, arguments: Any, path: Path) -> None:
        self.name = name
        self.arguments = arguments
        self.path = path
        self._steps: int | None = None

    @classmethod
    def compile(cls, name: str, arguments: Any, path: Path, compiler: Compiler) -> Function:
        """The call `{name: arguments}` that stands at `path`."""
        return cls(name, compiler.value(arguments, (*path, name)), path)

    def complaint(self, arguments: Any) -> str | None:
        """What is wrong with the arguments' shape; they may hold calls, which have no shape yet."""
        return None

    def evaluate(self, evaluation: Evaluation) -> Any:
        try:
            value = self._evaluate(evaluation)
        except FunctionError as error:
            if error.path is None:
                error.path = self.path
            return evaluation.failed(error)
        kind = type(value)
        if kind is str:
            evaluation.size += len(value)
        elif kind not in _WITHOUT_PARTS:
            evaluation.size += measured(value, evaluation.budget)
        return value

    def _evaluate(self, evaluation: Evaluation) -> Any:
        arguments = evaluate(self.arguments, evaluation)
        if arguments is self.arguments and type(arguments) is not str:  # plain data
            steps = self._steps
            if steps is None:
                steps = self._steps = measured(arguments, evaluation.budget) // ITEM_BYTES
            if steps > _FEW_STEPS:
                evaluation.budget.charge(steps)
        if arguments is OMIT:
            arguments = None
        if isinstance(arguments, Unknown):
            return arguments
        if not self.accepts_unknown and evaluation.blocked(arguments):
            return combine([arguments])
        if isinstance(self.arguments, Function):
            complaint = self.complaint(arguments)
            if complaint:
                raise FunctionError(f"{self.name}: {complaint}", "StackValidationFailed")
        return self.apply(arguments, evaluation)

    def apply(self, arguments: Any, evaluation: Evaluation) -> Any:
        """The call's value from resolved arguments; raises FunctionError."""
        raise NotImplementedError

    def written(self, value: Any, evaluation: Evaluation, **layout: Any) -> str:
        """Plain data as JSON; raises FunctionError for more of it than one value may have."""
        limit = evaluation.binding.limits.max_expanded_size
        if measured(value, evaluation.budget) > limit:
            raise self.wrong(f"the value is larger than {limit} bytes")
        text = json.dumps(value, **layout)
        self.limited(len(text), evaluation)
        return text

    def limited(self, size: int, evaluation: Evaluation) -> None:
        """Charge for a text of `size` bytes that is about to be made; raises FunctionError for one that is too long."""
        limit = evaluation.binding.limits.max_expanded_size
        if size > limit:
            raise self.wrong(f"the text grows to more than {limit} characters")
        evaluation.budget.charge(made=size)

    def children(self, evaluation: Evaluation) -> Iterator[Any]:
        return iter((self.arguments,))

    def all_children(self) -> Iterable[Any]:
        return self.arguments if isinstance(self.arguments, list | tuple) else (self.arguments,)

    def parameters_named(self) -> Sequence[str] | None:
        """Names of parameters that the call itself asks for, as written; None when they are known only later."""
        return ()

    def wrong(self, message: str, kind: str = "ValueError") -> FunctionError:
        """An error that names the function."""
        return FunctionError(f"{self.name}: {message}", kind)

    def wrong_type(self, message: str) -> FunctionError:
        """An error about the type of an argument."""
        return self.wrong(message, "TypeError")


def variant(name: str) -> Callable[[type[Function]], type[Function]]:
    """Class decorator: enter a function into the table as `name`, written `function/number`."""

    def register(cls: type[Function]) -> type[Function]:
        assert name not in VARIANTS, name
        VARIANTS[name] = cls
        return cls

    return register


def is_list(value: Any) -> bool:
    """Whether a resolved value is a list (a text is not)."""
    kind = type(value)
    if kind is list or kind is str:
        return kind is list
    return isinstance(value, Sequence) and not isinstance(value, str)


def is_map(value: Any) -> bool:
    """Whether a resolved value is a map."""
    return type(value) is dict or isinstance(value, Mapping)


def to_index(value: Any) -> int | None:
    """A list index from an integer or its text; None when it is neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return None
    return None
