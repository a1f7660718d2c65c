"""Evaluation of rules: the rows of a table, from those of the tables that its rules refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from openstack_emulator.core.errors import bad_request
from openstack_emulator.policy.rules.builtins import Builtin, builtin_of, inputs_of
from openstack_emulator.policy.rules.language import Atom, Literal, Rule, Term, Value, Variable

Row = tuple[Value, ...]
Bindings = dict[str, Value]
Key = tuple[str, str]
"""The name of a policy or data source, and that of a table in it."""
MOST_STEPS = 200_000
"""The number of rows that one evaluation may look at."""


class Evaluation:
    """One evaluation. Tables are evaluated once, when they are needed first.

    rules_of: returns the rules that define a table of a policy, None for the table of a data source.
    rows_of: returns the rows of a data source's table.
    """

    def __init__(
        self, rules_of: Callable[[Key], Sequence[Rule] | None], rows_of: Callable[[Key], Iterable[Row]]
    ) -> None:
        self._rules_of = rules_of
        self._rows_of = rows_of
        self._tables: dict[Key, frozenset[Row]] = {}
        self._steps = 0

    def rows(self, key: Key) -> frozenset[Row]:
        """Return the rows of a table. Raises ApiError 400 for an evaluation that takes too long."""
        if key not in self._tables:
            rules = self._rules_of(key)
            if rules is None:
                self._tables[key] = frozenset(self._rows_of(key))
            else:
                self._tables[key] = frozenset(row for rule in rules for row in self._derived(key[0], rule))
        return self._tables[key]

    def _derived(self, policy: str, rule: Rule) -> Iterator[Row]:
        for bindings in self._solutions(policy, list(rule.body), {}):
            yield tuple(_value(term, bindings) for term in rule.head.terms)

    def _solutions(self, policy: str, literals: list[Literal], bindings: Bindings) -> Iterator[Bindings]:
        """Return the bindings of variables under which all literals hold."""
        if not literals:
            yield bindings
            return
        # Checked rules always have a literal that is ready: see `unsafe_variable`. Conditions come before tables.
        ready = [index for index, literal in enumerate(literals) if _is_ready(literal, bindings)]
        index = min(ready, key=lambda index: not inputs_of(literals[index]))
        literal, rest = literals[index], [*literals[:index], *literals[index + 1 :]]
        for found in self._matches(policy, literal, bindings):
            yield from self._solutions(policy, rest, found)

    def _matches(self, policy: str, literal: Literal, bindings: Bindings) -> Iterator[Bindings]:
        builtin = builtin_of(literal.atom)
        if builtin is not None:
            found = _computed(builtin, literal.atom, bindings)
            if (found is None) == literal.negated:
                yield bindings if found is None else found
            return
        atom = literal.atom
        rows = self.rows((atom.module or policy, atom.table))
        if literal.negated:
            if not any(self._unified(atom, row, bindings) is not None for row in rows):
                yield bindings
            return
        for row in rows:
            unified = self._unified(atom, row, bindings)
            if unified is not None:
                yield unified

    def _unified(self, atom: Atom, row: Row, bindings: Bindings) -> Bindings | None:
        """Return the bindings under which an atom has the values of a row; None if there are none."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise bad_request(f"The evaluation of the policy looks at more than {MOST_STEPS} rows")
        if len(atom.terms) != len(row):
            return None
        bound: Bindings = {}
        for term, value in zip(atom.terms, row, strict=True):
            known = bindings.get(term.name, value) if isinstance(term, Variable) else term
            if known != value or (isinstance(term, Variable) and bound.setdefault(term.name, value) != value):
                return None
        return {**bindings, **bound}


def _computed(builtin: Builtin, atom: Atom, bindings: Bindings) -> Bindings | None:
    """Return the bindings under which a built-in table holds; None if there are none."""
    arguments = tuple(_value(term, bindings) for term in atom.terms[: builtin.inputs])
    if not builtin.results:
        return bindings if builtin.holds(arguments) else None
    value, target = builtin.value(arguments), atom.terms[-1]
    if value is None:
        return None
    if isinstance(target, Variable) and target.name not in bindings:
        return {**bindings, target.name: value}
    return bindings if _value(target, bindings) == value else None


def _is_ready(literal: Literal, bindings: Bindings) -> bool:
    return all(not isinstance(term, Variable) or term.name in bindings for term in inputs_of(literal))


def _value(term: Term, bindings: Bindings) -> Value:
    return bindings[term.name] if isinstance(term, Variable) else term
