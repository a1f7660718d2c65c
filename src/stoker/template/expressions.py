"""Values that are worked out later: trees of function calls inside plain data.

Plain data stays plain. Only a map or a list that holds a function call becomes a node, so a template without calls
costs nothing to resolve. Trees are compiled once per template and shared by every stack that uses it; what differs
between stacks comes in with the `Evaluation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from stoker.base.budget import ITEM_BYTES, Budget, current, measured
from stoker.base.diagnostics import Diagnostic, Path
from stoker.schema.unknown import Unknown, has_unknown
from stoker.template.limits import Limits

_BETWEEN_CHARGES = 64
_SMALL = 16_384
"""Values of fewer bytes are charged for by the sum of their parts."""


class _Omit:
    """What `if` without a third argument yields when false: the place it stands in is left out."""

    def __repr__(self) -> str:
        return "(left out)"


OMIT: Final = _Omit()


class FunctionError(Exception):
    """A function cannot work with what it was given. `kind` is the name of Heat's error, `path` where it stands."""

    def __init__(self, message: str, kind: str = "ValueError", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.hint = hint
        self.path: Path | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A resource that an expression needs; `attribute` is None for its reference id."""

    resource: str
    attribute: str | None = None
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Facade:
    """What a nested template may know of the resource that it stands for."""

    metadata: Any = None
    deletion_policy: str = "Delete"
    update_policy: Any = None


class Scope(Protocol):
    """What resolving needs from outside the definition. Each method may answer with an Unknown."""

    def reference(self, resource: str) -> Any:
        """The resource's reference id."""

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        """The attribute's value with `path` followed into it; None when there is nothing there."""

    def all_attributes(self, resource: str) -> Any:
        """Every attribute of the resource but `show`, by name."""

    def availability_zones(self) -> Any:
        """Names of the compute service's availability zones."""

    def facade(self) -> Facade | None:
        """The parent resource of a nested stack; None in a root stack."""


class UnknownScope:
    """The scope of a stack of which nothing exists yet: every reference is unknown."""

    def reference(self, resource: str) -> Any:
        return Unknown.of(resource)

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        return Unknown.of(resource, attribute, *path)

    def all_attributes(self, resource: str) -> Any:
        return Unknown.of(resource, "")

    def availability_zones(self) -> Any:
        return UNDETERMINED

    def facade(self) -> Facade | None:
        return Facade(UNDETERMINED, "Delete", UNDETERMINED)


UNDETERMINED: Final = Unknown(frozenset())
"""An unknown that waits for no resource: a parameter without a value yet, or a value that could not be had."""


LookUp = Callable[[str, str, str], Any]
"""From a parameter type, a value of it and the name of an attribute to that attribute of what the value names."""


class Binding(Protocol):
    """The part of a definition that functions see."""

    @property
    def limits(self) -> Limits: ...

    @property
    def files(self) -> Mapping[str, str]: ...

    @property
    def mappings(self) -> Mapping[str, Any]: ...

    @property
    def known_exports(self) -> Mapping[str, Any] | None:
        """What stacks of the project export, by name; None when that is not known."""

    @property
    def look_up(self) -> LookUp | None: ...

    @property
    def budget(self) -> Budget:
        """What is charged where no budget is open."""

    def parameter(self, name: str) -> Any:
        """The parameter's value; FunctionError (UserParameterMissing) when there is none."""

    def has_parameter(self, name: str) -> bool: ...

    def type_of_parameter(self, name: str) -> str:
        """The parameter's type as the template writes it; FunctionError when there is no such parameter."""

    def parameters_of_type(self, kind: str) -> Iterator[str]:
        """Names of the parameters of a type, or of lists of it."""

    def has_resource(self, name: str) -> bool:
        """Whether the resource is declared and its condition holds."""

    def resource_names(self) -> Iterator[str]: ...

    def condition(self, name: str) -> bool | Unknown:
        """The named condition's value; FunctionError for an unknown name."""


class Evaluation:
    """One run of resolving: the binding, the scope, and what was met on the way.

    `size` estimates the bytes of the value so far: what functions returned, and the plain parts of lists and maps, each
    time that they are used. It is summed up during the evaluation, so that small values are charged without a walk.

    With a list of `failures` a call that cannot work is noted there and its value is undetermined; without, it ends
    the run.
    """

    __slots__ = ("binding", "budget", "failures", "scope", "size", "unknown_seen")

    def __init__(self, binding: Binding, scope: Scope, failures: list[FunctionError] | None = None) -> None:
        self.binding = binding
        self.budget = current() or binding.budget
        self.scope = scope
        self.failures = failures
        self.unknown_seen = False
        self.size = 0

    def charge_for(self, value: Any) -> None:
        """Charge for the value of the whole tree. Raises BudgetExceeded or Postponed."""
        made = self.size if self.size < _SMALL else measured(value, self.budget)
        self.budget.charge(made=made)

    def failed(self, error: FunctionError) -> Unknown:
        """Note a failure and go on, or raise it."""
        if self.failures is None:
            raise error
        self.failures.append(error)
        self.unknown_seen = True
        return UNDETERMINED

    def met(self, value: Any) -> Any:
        """Pass on a value that may hold unknowns; every value from outside goes through here."""
        if not self.unknown_seen and type(value) is not str and has_unknown(value):
            self.unknown_seen = True
        return value

    def blocked(self, value: Any) -> bool:
        """Whether an unknown is inside `value`; free as long as none was met."""
        return self.unknown_seen and has_unknown(value)


class Expression:
    """A node of a compiled tree.

    Not an abstract base class in Python's sense: `isinstance` of one is several times slower, and is asked for every
    value of every template.
    """

    __slots__ = ()

    def evaluate(self, evaluation: Evaluation) -> Any:
        """The node's value; raises FunctionError."""
        raise NotImplementedError

    def children(self, evaluation: Evaluation) -> Iterator[Any]:
        """The values below this node that take part, conditions having been decided."""
        raise NotImplementedError

    def all_children(self) -> Iterable[Any]:
        """The values below this node, whether they take part or not."""
        return ()


class ListExpression(Expression):
    """A list with a function call somewhere inside."""

    __slots__ = ("_size", "items")

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self._size: int | None = None

    def evaluate(self, evaluation: Evaluation) -> list[Any]:
        size = self._size
        if size is None:
            size = self._size = measured([_plain(item) for item in self.items], evaluation.budget)
        evaluation.size += size
        evaluation.budget.charge(size // ITEM_BYTES)
        values = (evaluate(item, evaluation) for item in self.items)
        return [value for value in values if value is not OMIT]

    def children(self, evaluation: Evaluation) -> Iterator[Any]:
        return iter(self.items)

    def all_children(self) -> Iterable[Any]:
        return self.items


class MapExpression(Expression):
    """A map with a function call somewhere inside."""

    __slots__ = ("_size", "entries")

    def __init__(self, entries: dict[str, Any]) -> None:
        self.entries = entries
        self._size: int | None = None

    def evaluate(self, evaluation: Evaluation) -> dict[str, Any]:
        size = self._size
        if size is None:
            plain = {key: _plain(item) for key, item in self.entries.items()}
            size = self._size = measured(plain, evaluation.budget)
        evaluation.size += size
        evaluation.budget.charge(size // ITEM_BYTES)
        result = {}
        for key, item in self.entries.items():
            value = evaluate(item, evaluation)
            if value is not OMIT:
                result[key] = value
        return result

    def children(self, evaluation: Evaluation) -> Iterator[Any]:
        return iter(self.entries.values())

    def all_children(self) -> Iterable[Any]:
        return self.entries.values()


class Malformed(Expression):
    """A call that cannot work, in a place that may never be looked at; whoever does look gets the complaint."""

    __slots__ = ("diagnostic",)

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic

    def evaluate(self, evaluation: Evaluation) -> Any:
        error = FunctionError(self.diagnostic.message, self.diagnostic.kind, self.diagnostic.hint)
        error.path = self.diagnostic.path
        return evaluation.failed(error)

    def children(self, evaluation: Evaluation) -> Iterator[Any]:
        return iter(())


def _plain(item: Any) -> Any:
    """The item, or None for one that has to be evaluated and is measured then."""
    return None if isinstance(item, Expression) else item


def evaluate(value: Any, evaluation: Evaluation) -> Any:
    """The value of a compiled tree, which may be OMIT; plain data is itself. Raises FunctionError."""
    return value.evaluate(evaluation) if isinstance(value, Expression) else value


def walk(value: Any, evaluation: Evaluation) -> Iterator[Expression]:
    """Every node of a compiled tree that takes part, from the top down.

    Raises FunctionError for a call whose condition cannot be decided; one that notes failures goes on after it.
    """
    if not isinstance(value, Expression):
        return
    pending = [value]
    seen = 0
    while pending:
        node = pending.pop()
        seen += 1
        if not seen % _BETWEEN_CHARGES:
            evaluation.budget.charge(_BETWEEN_CHARGES)
        yield node
        try:
            pending.extend(child for child in node.children(evaluation) if isinstance(child, Expression))
        except FunctionError as error:
            evaluation.failed(error)


def every_node(value: Any) -> Iterator[Expression]:
    """Every node of a compiled tree, also those in branches that are not chosen, from the top down."""
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, Expression):
            yield node
            pending.extend(node.all_children())


def items_of(value: Any) -> Sequence[Any] | None:
    """The items of a compiled list; None when it is no list, or a call whose result may be one."""
    if isinstance(value, ListExpression):
        return value.items
    return value if isinstance(value, list) else None


def entries_of(value: Any) -> Mapping[str, Any] | None:
    """The entries of a compiled map; None when it is no map, or a call whose result may be one."""
    if isinstance(value, MapExpression):
        return value.entries
    return value if isinstance(value, dict) else None
