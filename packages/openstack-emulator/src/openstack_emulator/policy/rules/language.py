"""The language of policies: Datalog rules, parsed and checked.

`error(id) :- nova:servers(id=id, status="ERROR"), not exempt(id)`
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from openstack_emulator.core.errors import ApiError, bad_request

Value = str | int | float
LONGEST = 65_535
"""The length of a rule in characters."""
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>-?\d+(?:\.\d+)?)
    |(?P<name>[A-Za-z_][\w.]*(?::[A-Za-z_][\w.]*)*[+-]?)
    |(?P<sign>:-|[()\[\],=])
    )""",
    re.VERBOSE | re.ASCII,
)
_MOST = 100
"""The number of columns of a table, and of literals in a body."""
_MOST_DIGITS = 15


@dataclass(frozen=True)
class Variable:
    """A variable of a rule."""

    name: str


Term = Variable | str | int | float


@dataclass(frozen=True)
class Atom:
    """A table with arguments: `module:table(term, column=term)`. Without columns, arguments are in their order."""

    module: str | None
    table: str
    terms: tuple[Term, ...]
    columns: tuple[str | None, ...]

    def variables(self) -> set[str]:
        """Return the names of the variables among the arguments."""
        return {term.name for term in self.terms if isinstance(term, Variable)}

    def __str__(self) -> str:
        arguments = (
            _written(term) if column is None else f"{column}={_written(term)}"
            for term, column in zip(self.terms, self.columns, strict=True)
        )
        return (
            f"{self.module}:{self.table}({', '.join(arguments)})"
            if self.module
            else f"{self.table}({', '.join(arguments)})"
        )


@dataclass(frozen=True)
class Literal:
    """An atom in the body of a rule, or its negation."""

    atom: Atom
    negated: bool

    def __str__(self) -> str:
        return f"not {self.atom}" if self.negated else str(self.atom)


@dataclass(frozen=True)
class Rule:
    """A rule, or a fact without a body. With `executes`, the head is an action."""

    head: Atom
    body: tuple[Literal, ...]
    executes: bool = False

    def __str__(self) -> str:
        head = f"execute[{self.head}]" if self.executes else str(self.head)
        return f"{head} :- {', '.join(str(literal) for literal in self.body)}" if self.body else head


def parse(text: object) -> Rule:
    """Return the rule that a string contains. Raises ApiError 400 for a syntax error."""
    if not isinstance(text, str) or not text.strip():
        raise bad_request("The rule must be a string that is not empty")
    if len(text) > LONGEST:
        raise bad_request(f"The rule must not be longer than {LONGEST} characters")
    parser = _Parser(text)
    rule = parser.rule()
    if parser.sign is not None:
        raise parser.unexpected("the end of the rule")
    return rule


def _written(term: Term) -> str:
    return term.name if isinstance(term, Variable) else json.dumps(term, ensure_ascii=False)


class _Parser:
    """Reads tokens one after the other; `kind` and `sign` are those of the next one, None at the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan()
        self.kind: str | None = None
        self.sign: str | None = None
        self._next()

    def _scan(self) -> Iterator[tuple[str, str]]:
        offset, text = 0, self._text.rstrip()
        while offset < len(text):
            found = _TOKEN.match(text, offset)
            if found is None:
                raise bad_request(f"Syntax error in rule at character {offset + 1}: {text[offset : offset + 20]!r}")
            offset = found.end()
            yield str(found.lastgroup), found[str(found.lastgroup)]

    def _next(self) -> None:
        self.kind, self.sign = next(self._tokens, (None, None))

    def unexpected(self, expected: str) -> ApiError:
        found = "the rule ends" if self.sign is None else f"found {self.sign!r}"
        return bad_request(f"Syntax error in rule {self._text.strip()!r}: expected {expected}, but {found}")

    def _take(self, sign: str) -> None:
        if self.sign != sign or self.kind != "sign":
            raise self.unexpected(repr(sign))
        self._next()

    def _name(self, what: str) -> str:
        if self.kind != "name" or self.sign is None or self.sign == "not":
            raise self.unexpected(what)
        found = self.sign
        self._next()
        return found

    def rule(self) -> Rule:
        name = self._name("the name of a table")
        executes = name == "execute" and self.sign == "["
        if executes:
            self._take("[")
            head = self._atom(self._name("the name of an action"))
            self._take("]")
        else:
            head = self._atom(name)
        body: list[Literal] = []
        if self.sign == ":-":
            self._next()
            body.append(self._literal())
            while self.sign == "," and self.kind == "sign":
                self._next()
                body.append(self._literal())
        if len(body) > _MOST:
            raise bad_request(f"The body of a rule must not have more than {_MOST} literals")
        return Rule(head, tuple(body), executes)

    def _literal(self) -> Literal:
        negated = self.kind == "name" and self.sign == "not"
        if negated:
            self._next()
        return Literal(self._atom(self._name("the name of a table")), negated)

    def _atom(self, name: str) -> Atom:
        module, _, table = name.rpartition(":")
        self._take("(")
        terms: list[Term] = []
        columns: list[str | None] = []
        while self.sign != ")" or self.kind != "sign":
            if terms:
                self._take(",")
            column, term = self._argument()
            columns.append(column)
            terms.append(term)
            if len(terms) > _MOST:
                raise bad_request(f"A table must not have more than {_MOST} columns")
        self._next()
        return Atom(module or None, table, tuple(terms), tuple(columns))

    def _argument(self) -> tuple[str | None, Term]:
        if self.kind != "name":
            return None, self._constant()
        name = self._name("a term")
        if self.sign != "=" or self.kind != "sign":
            return None, Variable(name)
        self._next()
        return name, Variable(self._name("a term")) if self.kind == "name" else self._constant()

    def _constant(self) -> Term:
        kind, text = self.kind, self.sign
        if text is None or kind not in ("string", "number"):
            raise self.unexpected("a variable, a number or a string")
        self._next()
        if kind == "number":
            if len(text) > _MOST_DIGITS:
                raise bad_request(f"The number {text} must not have more than {_MOST_DIGITS} digits")
            return float(text) if "." in text else int(text)
        return re.sub(r"\\(.)", r"\1", text[1:-1])
