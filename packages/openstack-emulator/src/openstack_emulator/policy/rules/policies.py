"""Policies and their rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.rules import Rules
from openstack_emulator.policy.records import Policy, PolicyRule
from openstack_emulator.policy.rules.builtins import BUILTINS, MODULE, builtin_of, unsafe_variable
from openstack_emulator.policy.rules.evaluation import Evaluation, Key, Row
from openstack_emulator.policy.rules.inputs import NewPolicy, NewRule
from openstack_emulator.policy.rules.language import Atom, Literal, Rule, Variable, parse
from openstack_emulator.policy.rules.sources import Sources

KINDS = ("nonrecursive", "action", "database", "materialized", "z3")
EVALUATED = ("nonrecursive", "database", "materialized")
"""The kinds of policies whose tables can be read."""
SYSTEM = {"classification": "nonrecursive", "action": "action"}
"""The policies of a new cloud, which cannot be deleted, with their kinds."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}\Z")
_ABBREVIATION = 5


class Policies(Rules):
    """Policies and rules. All are visible to every administrator, and to nobody else."""

    def __init__(self, records: Records, sources: Sources) -> None:
        super().__init__(records)
        self.rows = records.table("policies", Policy, "name")
        self.rules = records.table("rules", PolicyRule, "policy_id")
        self.sources = sources

    def seed(self) -> None:
        for name, kind in SYSTEM.items():
            self.rows.add(_policy(NewPolicy(name=name, kind=kind, description=f"{name} policy"), "system"))

    def find(self, key: str) -> Policy:
        """Return a policy by ID or name. Raises ApiError 404."""
        return self.rows.get(key) or self.rows.first(name=key) or self.rows.require(key)

    def create(self, context: Context, new_policy: NewPolicy, rules: Iterable[NewRule]) -> Policy:
        """Create a policy, with these rules. Raises ApiError: 400, or 409 for a name that is in use."""
        name = new_policy.name
        if not _NAME.match(name) or name == MODULE:
            raise bad_request(f"Policy name {name!r} must consist of letters, digits and underscores")
        if self.rows.first(name=name) is not None or self.sources.rows.first(name=name) is not None:
            raise conflict(f"Policy with name {name} already exists")
        row = self.rows.add(_policy(new_policy, context.user_id))
        try:
            for rule in rules:
                self.add_rule(row, rule)
        except ApiError:
            self.delete(row)
            raise
        return row

    def delete(self, row: Policy) -> None:
        """Delete a policy with its rules. Raises ApiError 403 for one of the system's."""
        if row.name in SYSTEM:
            raise forbidden(f"Cannot delete system-maintained policy {row.name}")
        for rule in self.rules.select(policy_id=row.id):
            self.rules.remove(rule)
        self.rows.remove(row)

    def rule(self, row: Policy, key: str) -> PolicyRule:
        """Return a rule of a policy. Raises ApiError 404."""
        found = self.rules.require(key)
        if found.policy_id != row.id:
            raise self.rules.missing(key)
        return found

    def add_rule(self, row: Policy, new_rule: NewRule) -> PolicyRule:
        """Add a rule to a policy. Raises ApiError: 400 for an invalid one, 409 for one that the policy has."""
        rule = parse(new_rule.rule)
        self._check(row, rule)
        if any(other.rule == str(rule) for other in self.rules.select(policy_id=row.id)):
            raise conflict(f"Rule already exists: {rule}")
        return self.rules.add(
            PolicyRule(id=new_id(), policy_id=row.id, rule=str(rule), name=new_rule.name, comment=new_rule.comment)
        )

    # -- checks ----------------------------------------------------------------------------------------------------

    def _check(self, row: Policy, rule: Rule) -> None:
        if row.kind == "database" and rule.body:
            raise bad_request(f"Policy {row.name} is of the kind database, which has facts only: {rule}")
        if rule.head.module is not None and not rule.executes:
            raise bad_request(f"No policy name may be referenced in the head of a rule: {rule}")
        if any(column is not None for column in rule.head.columns):
            raise bad_request(f"Columns cannot be referenced in the head of a rule: {rule}")
        if rule.head.module is None and rule.head.table in BUILTINS:
            raise bad_request(f"The table {rule.head.table} is built in: {rule}")
        if not rule.body and rule.head.variables():
            raise bad_request(f"A fact must not have variables: {rule}")
        for literal in rule.body:
            self._check_atom(literal.atom)
        if (variable := unsafe_variable(rule)) is not None:
            raise bad_request(
                f"Rule {rule} is unsafe: the variable {variable} must appear in a table of the body "
                "that is neither negated nor built in"
            )
        if row.kind != "z3" and not rule.executes:
            self._check_recursion(row, rule)

    def _check_atom(self, atom: Atom) -> None:
        if atom.module == MODULE and builtin_of(atom) is None:
            raise bad_request(
                f"There is no built-in table {atom.table} with {len(atom.terms)} columns; those of this service are "
                f"{', '.join(BUILTINS)}"
            )
        columns = self.sources.columns(atom.module, atom.table) if atom.module else None
        named = [column for column in atom.columns if column is not None]
        if columns is None:
            if named:
                raise bad_request(f"Columns can be referenced in tables of data sources only: {atom}")
            if atom.module and self.sources.rows.first(name=atom.module) is not None:
                raise bad_request(f"The data source {atom.module} has no table {atom.table}")
        elif unknown := [column for column in named if column not in columns]:
            raise bad_request(f"The table {atom.module}:{atom.table} has no column {unknown[0]}")
        elif not named and len(atom.terms) != len(columns):
            raise bad_request(f"The table {atom.module}:{atom.table} has {len(columns)} columns: {', '.join(columns)}")

    def _check_recursion(self, row: Policy, rule: Rule) -> None:
        """Refuse a rule with which a table depends on itself, through any policies. Raises ApiError 400."""
        start: Key = (row.name, rule.head.table)
        waiting, seen = list(_references(row.name, [rule])), set[Key]()
        while waiting:
            key = waiting.pop()
            if key == start:
                raise bad_request(f"Rules are recursive: {rule}")
            if key not in seen:
                seen.add(key)
                waiting.extend(_references(key[0], self._defining(key) or ()))

    # -- tables ----------------------------------------------------------------------------------------------------

    def tables(self, row: Policy) -> list[str]:
        """Return the tables that the rules of a policy mention."""
        found: dict[str, None] = {}
        for rule_row in self.rules.select(policy_id=row.id):
            rule = parse(rule_row.rule)
            atoms = [*([] if rule.executes else [rule.head]), *(literal.atom for literal in rule.body)]
            for atom in atoms:
                if builtin_of(atom) is None:
                    found[f"{atom.module}:{atom.table}" if atom.module else atom.table] = None
        return list(found)

    def read(self, request: Request, row: Policy, table: str) -> list[Row]:
        """Return the rows of a table. Raises ApiError: 400, or 501 for a kind of policy that is not evaluated."""
        module, _, name = table.rpartition(":")
        self._require_evaluated(row)
        evaluation = Evaluation(self._rules_of, lambda key: self._source_rows(request, key))
        try:
            rows = evaluation.rows((module or row.name, name))
        except RecursionError:
            raise bad_request(f"The table {table} depends on too many others") from None
        return sorted(rows, key=lambda row: [str(value) for value in row])

    def _require_evaluated(self, row: Policy) -> None:
        if row.kind not in EVALUATED:
            raise ApiError(
                501,
                f"The emulated policy service does not evaluate policies of the kind {row.kind} ({row.name}); it "
                f"evaluates {', '.join(EVALUATED)}.",
            )

    def _rules_of(self, key: Key) -> Sequence[Rule] | None:
        row = self.rows.first(name=key[0])
        if row is not None:
            self._require_evaluated(row)
        return self._defining(key)

    def _defining(self, key: Key) -> list[Rule] | None:
        """Return the rules that define a table, without named columns; None for a table of a data source."""
        row = self.rows.first(name=key[0])
        if row is None:
            return [] if self.sources.rows.first(name=key[0]) is None else None
        rules = (parse(rule.rule) for rule in self.rules.select(policy_id=row.id))
        return [self._positional(rule) for rule in rules if rule.head.table == key[1] and not rule.executes]

    def _positional(self, rule: Rule) -> Rule:
        """Return a rule whose arguments are in the order of the tables' columns."""
        body = []
        for index, literal in enumerate(rule.body):
            atom = literal.atom
            columns = self.sources.columns(atom.module, atom.table) if atom.module else None
            if columns is not None and any(atom.columns):
                by_column = dict(zip(atom.columns, atom.terms, strict=True))
                # A variable without a name that rules can write, as a column that is not mentioned may have any value.
                terms = tuple(by_column.get(name, Variable(f"{index}.{name}")) for name in columns)
                atom = Atom(atom.module, atom.table, terms, (None,) * len(terms))
            body.append(Literal(atom, literal.negated))
        return Rule(rule.head, tuple(body), rule.executes)

    def _source_rows(self, request: Request, key: Key) -> Iterable[Row]:
        row = self.sources.rows.first(name=key[0])
        return [] if row is None or key[1] not in self.sources.tables(row) else self.sources.read(request, row, key[1])


def _policy(new_policy: NewPolicy, owner: str) -> Policy:
    return Policy(
        id=new_id(),
        name=new_policy.name,
        abbreviation=new_policy.abbreviation or new_policy.name[:_ABBREVIATION],
        description=new_policy.description or "",
        owner_id=owner,
        kind=new_policy.kind or "nonrecursive",
    )


def _references(policy: str, rules: Iterable[Rule]) -> Iterable[Key]:
    """Return the tables that the bodies of a policy's rules refer to."""
    return [
        (literal.atom.module or policy, literal.atom.table)
        for rule in rules
        for literal in rule.body
        if builtin_of(literal.atom) is None
    ]
