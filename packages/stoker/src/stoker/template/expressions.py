"""Expression trees: function calls inside plain data, which are evaluated later.

Only a map or a list that contains a function call becomes a node; other data stays plain, so a template without calls
costs nothing to resolve. Trees are compiled once per template and shared by every stack that uses it; the `Evaluation`
supplies what differs between stacks.
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
    """The value of `if` without a third argument when false: the property, map key or list item is omitted."""

    def __repr__(self) -> str:
        return "(omitted)"


OMIT: Final = _Omit()


class FunctionError(Exception):
    """A function cannot be evaluated with its arguments.

    `kind` is the name of Heat's error, `rule` that of the diagnostic, `path` the place.
    """

    def __init__(self, message: str, kind: str = "ValueError", hint: str = "", rule: str = "function") -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.hint = hint
        self.rule = rule
        self.path: Path | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A resource that an expression refers to; `attribute` is None for its reference ID."""

    resource: str
    attribute: str | None = None
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Facade:
    """What a nested template can read of its parent resource."""

    metadata: Any = None
    deletion_policy: str = "Delete"
    update_policy: object = None


class Scope(Protocol):
    """The values that an evaluation needs from outside the definition. Each method may return an Unknown."""

    def reference(self, resource: str) -> object:
        """Return the resource's reference ID."""

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> object:
        """Return the attribute's value at `path`; None if there is none."""

    def all_attributes(self, resource: str) -> object:
        """Return every attribute of the resource except `show`, by name."""

    def availability_zones(self) -> object:
        """Return the names of the compute service's availability zones."""

    def facade(self) -> Facade | None:
        """Return the parent resource of a nested stack; None in a root stack."""


class UnknownScope:
    """The scope of a stack whose resources do not exist yet: every reference is unknown."""

    def reference(self, resource: str) -> object:
        return Unknown.of(resource)

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> object:
        return Unknown.of(resource, attribute, *path)

    def all_attributes(self, resource: str) -> object:
        return Unknown.of(resource, "")

    def availability_zones(self) -> object:
        return UNDETERMINED

    def facade(self) -> Facade | None:
        return Facade(UNDETERMINED, "Delete", UNDETERMINED)


UNDETERMINED: Final = Unknown(frozenset())
"""An unknown that depends on no resource: a parameter without a value yet, or a value that could not be determined."""


LookUp = Callable[[str, object, str], object]
"""Takes a parameter type, a value of it and an attribute's name; returns that attribute of the object that is named."""


class Binding(Protocol):
    """The part of a definition that functions can use."""

    @property
    def limits(self) -> Limits: ...

    @property
    def files(self) -> Mapping[str, str]: ...

    @property
    def mappings(self) -> Mapping[str, Any]: ...

    @property
    def known_exports(self) -> Mapping[str, object] | None:
        """The exports of the project's stacks by name; None if they are not known."""

    @property
    def look_up(self) -> LookUp | None: ...

    @property
    def budget(self) -> Budget:
        """The budget to charge when no other one is open."""

    def parameter(self, name: str) -> object:
        """Return the parameter's value; raises FunctionError (UserParameterMissing) if there is none."""

    def has_parameter(self, name: str) -> bool: ...

    def type_of_parameter(self, name: str) -> str:
        """Return the parameter's type as the template writes it; raises FunctionError if there is no such parameter."""

    def parameters_of_type(self, kind: str) -> Iterator[str]:
        """Yield the names of the parameters of a type, or of lists of it."""

    def has_resource(self, name: str) -> bool:
        """Return whether the resource is declared and its condition is true."""

    def resource_names(self) -> Iterator[str]: ...

    def condition(self, name: str) -> bool | Unknown:
        """Return the named condition's value; raises FunctionError for an unknown name."""


class Evaluation:
    """One evaluation of expression trees: the binding, the scope, and whether an unknown was found.

    `size` estimates the bytes of the value so far: what functions returned, and the plain parts of lists and maps, each
    time that they are used. It is summed up during the evaluation, so that small values are charged without a walk.

    With a list of `failures`, the error of a call is added there and the call's value is unknown; without it, the
    error is raised.
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
        size = self.size if self.size < _SMALL else measured(value, self.budget)
        self.budget.charge(made=size)

    def failed(self, error: FunctionError) -> Unknown:
        """Record the error and return an unknown, or raise the error."""
        if self.failures is None:
            raise error
        self.failures.append(error)
        self.unknown_seen = True
        return UNDETERMINED

    def tracked(self, value: Any) -> object:
        """Return the value and record whether it contains unknowns; every value from outside must pass through here."""
        if not self.unknown_seen and type(value) is not str and has_unknown(value):
            self.unknown_seen = True
        return value

    def blocked(self, value: Any) -> bool:
        """Return whether `value` contains an unknown; costs nothing as long as no value from outside did."""
        return self.unknown_seen and has_unknown(value)


class Expression:
    """A node of a compiled tree.

    Not an `abc.ABC`: `isinstance` with one is several times slower, and is called for every value of every template.
    """

    __slots__ = ()

    def evaluate(self, evaluation: Evaluation) -> object:
        """Return the node's value; raises FunctionError."""
        raise NotImplementedError

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        """Yield the nodes inside this one, in chosen branches only; plain values may be among them."""
        raise NotImplementedError

    def all_children(self) -> Iterable[object]:
        """Return the values inside this node, in all branches."""
        return ()


class ListExpression(Expression):
    """A list that contains a function call."""

    __slots__ = ("_nodes", "_size", "items")

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self._nodes = tuple(index for index, item in enumerate(items) if isinstance(item, Expression))
        self._size: int | None = None

    def evaluate(self, evaluation: Evaluation) -> list[Any]:
        size = self._size
        if size is None:
            plain = [None if isinstance(item, Expression) else item for item in self.items]
            size = self._size = measured(plain, evaluation.budget)
        evaluation.size += size
        evaluation.budget.charge(size // ITEM_BYTES)
        values = self.items.copy()
        for index in self._nodes:
            values[index] = self.items[index].evaluate(evaluation)
        return [value for value in values if value is not OMIT]

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        return (self.items[index] for index in self._nodes)

    def all_children(self) -> Iterable[object]:
        return self.items


class MapExpression(Expression):
    """A map that contains a function call."""

    __slots__ = ("_nodes", "_size", "entries")

    def __init__(self, entries: dict[str, Any]) -> None:
        self.entries = entries
        self._nodes = tuple(key for key, item in entries.items() if isinstance(item, Expression))
        self._size: int | None = None

    def evaluate(self, evaluation: Evaluation) -> dict[str, Any]:
        size = self._size
        if size is None:
            size = self._size = measured({**self.entries, **dict.fromkeys(self._nodes)}, evaluation.budget)
        evaluation.size += size
        evaluation.budget.charge(size // ITEM_BYTES)
        result = self.entries.copy()
        for key in self._nodes:
            value = self.entries[key].evaluate(evaluation)
            if value is OMIT:
                del result[key]
            else:
                result[key] = value
        return result

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        return (self.entries[key] for key in self._nodes)

    def all_children(self) -> Iterable[object]:
        return self.entries.values()


class Malformed(Expression):
    """An invalid call in a place that may never be evaluated; evaluating it raises the error."""

    __slots__ = ("diagnostic",)

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic

    def evaluate(self, evaluation: Evaluation) -> object:
        error = FunctionError(self.diagnostic.message, self.diagnostic.kind, self.diagnostic.hint)
        error.path = self.diagnostic.path
        return evaluation.failed(error)

    def children(self, evaluation: Evaluation) -> Iterator[object]:
        return iter(())


def evaluate(value: object, evaluation: Evaluation) -> object:
    """Return the value of a compiled tree, which may be OMIT, or plain data as it is. Raises FunctionError."""
    return value.evaluate(evaluation) if isinstance(value, Expression) else value


def walk(value: Any, evaluation: Evaluation) -> Iterator[Expression]:
    """Yield every node of a compiled tree, in chosen branches only, from the top down.

    Raises FunctionError for a call whose condition cannot be evaluated, or records it if the evaluation has `failures`.
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
    """Yield every node of a compiled tree, in all branches, from the top down."""
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, Expression):
            yield node
            pending.extend(node.all_children())


def items_of(value: Any) -> Sequence[object] | None:
    """Return the items of a compiled list; None if it is not a list, or is a call whose result may be one."""
    if isinstance(value, ListExpression):
        return value.items
    return value if isinstance(value, list) else None


def entries_of(value: Any) -> Mapping[str, Any] | None:
    """Return the entries of a compiled map; None if it is not a map, or is a call whose result may be one."""
    if isinstance(value, MapExpression):
        return value.entries
    return value if isinstance(value, dict) else None
