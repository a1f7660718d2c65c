"""The base class of all functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, Protocol, TypeGuard

from stoker.base.budget import ITEM_BYTES, measured
from stoker.base.diagnostics import Path
from stoker.schema.unknown import Unknown, combine
from stoker.template.expressions import OMIT, Evaluation, Expression, FunctionError
from stoker.template.paths import to_index as to_index  # functions of plug-ins import it from here

_WITHOUT_PARTS = frozenset({bool, int, float, type(None), Unknown, type(OMIT)})
_FEW_STEPS = 8
"""Plain arguments of so few items are charged for with the list or map that the call stands in."""


class Compiler(Protocol):
    """The interface of the compiler for functions."""

    def value(self, snippet: Any, path: Path) -> Any:
        """Return a compiled tree, or the snippet itself if it contains no call."""

    def branch(self, snippet: object, path: Path) -> object:
        """Compile like `value`, for a tree that may never be evaluated: errors stay inside it until it is."""

    def condition(self, snippet: Any, path: Path) -> object:
        """Return a compiled condition: a boolean, a name or a condition function."""


class Function(Expression):
    """A call. `arguments` is compiled: plain data, a node that contains calls, or itself a call.

    Invalid arguments are found in two stages, as in Heat: `problem` finds those with a wrong shape when the template
    is loaded; `apply` finds the rest when the values are known. If there is an unknown inside the arguments, only
    `accepts_unknown` functions are applied; none is applied if the arguments as a whole are unknown.

    The class must be importable by its name, since templates are also evaluated in other processes, and `apply` must
    depend on its arguments alone: it may be called several times for the same call.
    """

    __slots__ = ("_steps", "arguments", "name", "path")

    accepts_unknown: ClassVar[bool] = False
    variants: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str, arguments: Any, path: Path) -> None:
        self.name = name
        self.arguments = arguments
        self.path = path
        self._steps: int | None = None

    @classmethod
    def compile(cls, name: str, arguments: object, path: Path, compiler: Compiler) -> Function:
        """Return the compiled call `{name: arguments}` at `path`."""
        return cls(name, compiler.value(arguments, (*path, name)), path)

    def problem(self, arguments: object) -> str | None:
        """Return what is wrong with the arguments' shape, or None; the shape of calls inside them is not known yet."""
        return None

    def evaluate(self, evaluation: Evaluation) -> object:
        try:
            value = self._evaluate(evaluation)
        except FunctionError as error:
            if error.path is None:
                error.path = (*self.path, self.name)
            return evaluation.failed(error)
        if type(value) is str:
            evaluation.size += len(value)
        elif type(value) not in _WITHOUT_PARTS:
            evaluation.size += measured(value, evaluation.budget)
        return value

    def _evaluate(self, evaluation: Evaluation) -> object:
        arguments = self.arguments
        if not isinstance(arguments, Expression):  # plain data, whose shape was checked when the template was loaded
            self._charge_for_plain(arguments, evaluation)
            return self.apply(arguments, evaluation)
        arguments = arguments.evaluate(evaluation)
        if arguments is OMIT:
            arguments = None
        if isinstance(arguments, Unknown):
            return arguments
        if not self.accepts_unknown and evaluation.blocked(arguments):
            return combine([arguments])
        if isinstance(self.arguments, Function):
            problem = self.problem(arguments)
            if problem:
                raise FunctionError(f"{self.name}: {problem}", "StackValidationFailed")
        return self.apply(arguments, evaluation)

    def _charge_for_plain(self, arguments: object, evaluation: Evaluation) -> None:
        steps = self._steps
        if steps is None:
            few = type(arguments) is str
            steps = self._steps = 0 if few else measured(arguments, evaluation.budget) // ITEM_BYTES
        if steps > _FEW_STEPS:
            evaluation.budget.charge(steps)

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        """Return the call's value for resolved arguments; raises FunctionError."""
        raise NotImplementedError

    def charge(self, evaluation: Evaluation, steps: int = 1, made: int = 0) -> None:
        """Deduct `steps`, and `made` bytes of a value that is about to be built, from what the request may cost.

        Every function must charge for work that grows with its arguments before it does the work. The arguments and the
        result are charged for already. Raises BudgetExceeded, and Postponed: let both pass.
        """
        evaluation.budget.charge(steps, made)

    def written(self, value: object, evaluation: Evaluation, **layout: Any) -> str:
        """Return plain data as JSON; raises FunctionError if the result is too long for a value."""
        limit = evaluation.binding.limits.max_expanded_size
        if measured(value, evaluation.budget) > limit:
            raise self.wrong(f"the value is larger than {limit} bytes")
        text = json.dumps(value, **layout)
        self.limited(len(text), evaluation)
        return text

    def limited(self, size: int, evaluation: Evaluation) -> None:
        """Charge for a string of `size` bytes before creating it; raises FunctionError if it is too long."""
        limit = evaluation.binding.limits.max_expanded_size
        if size > limit:
            raise self.wrong(f"the string grows to more than {limit} characters")
        evaluation.budget.charge(made=size)

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        return iter((self.arguments,))

    def all_children(self) -> Iterable[object]:
        return self.arguments if isinstance(self.arguments, list | tuple) else (self.arguments,)

    def parameters_named(self) -> Sequence[str] | None:
        """Return the names of the parameters that the call itself reads, as written; None if they are not known yet."""
        return ()

    def wrong(self, message: str, kind: str = "ValueError") -> FunctionError:
        """Return an error that names the function."""
        return FunctionError(f"{self.name}: {message}", kind)

    def wrong_type(self, message: str) -> FunctionError:
        """Return an error about the type of an argument."""
        return self.wrong(message, "TypeError")


def variant(*names: str) -> Callable[[type[Function]], type[Function]]:
    """Class decorator: name the variants that a class implements, each in the form `function/number`.

    Template versions refer to variants by these names.
    """

    def named(cls: type[Function]) -> type[Function]:
        cls.variants = names
        return cls

    return named


def variants_in(modules: Iterable[ModuleType]) -> dict[str, type[Function]]:
    """Return the functions that modules define, by the names of their variants."""
    return {
        name: cls
        for module in modules
        for cls in vars(module).values()
        if isinstance(cls, type) and issubclass(cls, Function) and cls.__module__ == module.__name__
        for name in vars(cls).get("variants", ())
    }


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Return whether a resolved value is a list (a string is not)."""
    kind = type(value)
    if kind is list or kind is str:
        return kind is list
    return isinstance(value, Sequence) and not isinstance(value, str)


def is_map(value: object) -> TypeGuard[Mapping[str, object]]:
    """Return whether a resolved value is a map."""
    return type(value) is dict or isinstance(value, Mapping)


def is_list_of_strings(value: object) -> TypeGuard[Sequence[str]]:
    """Return whether a resolved value is a list that has only strings."""
    return is_list(value) and all(isinstance(item, str) for item in value)


def scalar_as_text(value: object) -> object:
    """Return a number or boolean as AWS writes it where it is a string: 443, true; anything else unchanged."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value
