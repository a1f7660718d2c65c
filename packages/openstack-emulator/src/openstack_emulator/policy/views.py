"""Policies, rules and tables as clients see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openstack_emulator.policy.records import DataSource, Policy, PolicyRule


def policy_view(policy: Policy, rules: Sequence[PolicyRule] = ()) -> dict[str, object]:
    """A policy; with its rules if there are any."""
    return {**policy.to_json(), **({"rules": [rule_view(rule) for rule in rules]} if rules else {})}


def rule_view(rule: PolicyRule) -> dict[str, object]:
    """A rule of a policy."""
    return {"id": rule.id, "rule": rule.rule, "name": rule.name, "comment": rule.comment}


def source_view(source: DataSource) -> dict[str, object]:
    """A data source."""
    return source.to_json()


def schema_view(name: str, columns: Mapping[str, str]) -> dict[str, object]:
    """The columns of a table."""
    return {"table_id": name, "columns": [{"name": column, "description": None} for column in columns]}
