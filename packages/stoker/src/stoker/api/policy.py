"""Authorization: oslo.policy with the default rules and the operator's `policy.yaml`."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from oslo_config import cfg
from oslo_policy import opts, policy

from stoker.api.faults import NotAllowed
from stoker.api.policies import DEPRECATED_SINCE, RULE_SETS

_Decision = TypeVar("_Decision")

_TYPE_RULE = "resource_types:"

_LOOK_EVERY = 1.0
"""Minimum number of seconds between two checks for changed policy files."""
_UNKNOWN_RULE = "!"
"""The check for an undefined rule: it refuses everyone."""


@dataclass(frozen=True)
class Credentials:
    """The attributes of a caller that rules can use, with the names of oslo.policy."""

    user_id: str
    project_id: str
    roles: tuple[str, ...] = ()
    is_admin_project: bool = True
    system_scope: str | None = None
    domain_id: str | None = None
    user_domain_id: str = ""
    project_domain_id: str = ""


class _Enforcer(policy.Enforcer):
    """Checks for changed files at most once in `_LOOK_EVERY` seconds, since a request evaluates many rules.

    `decided` caches decisions for the same time.
    """

    _looked = float("-inf")

    def load_rules(self, force_reload: bool = False) -> None:
        now = time.monotonic()
        if force_reload or now - self._looked >= _LOOK_EVERY:
            self._looked = now
            super().load_rules(force_reload)
            self.decided: dict[Hashable, Any] = {}


class Policy:
    """The current rules. Thread-safe; follows changes of the policy file."""

    def __init__(self, config: cfg.ConfigOpts) -> None:
        opts.set_defaults(config, policy_file="policy.yaml", enforce_new_defaults=True)
        self._enforcer = _Enforcer(config, default_rule=_UNKNOWN_RULE)
        self._enforcer.suppress_default_change_warnings = True
        self._enforcer.suppress_deprecation_warnings = True
        self._enforcer.register_defaults(list(_defaults()))
        self._enforcer.load_rules()

    def names(self) -> frozenset[str]:
        """The names of all rules, ours and the operator's."""
        return frozenset(self._enforcer.rules)

    def allows(self, rule: str, caller: Credentials, project_id: str) -> bool:
        """Return whether `caller` passes `rule` for the project in the URL."""
        return self._once(
            (rule, caller, project_id),
            lambda: bool(self._enforcer.enforce(rule, {"project_id": project_id}, _plain(caller))),
        )

    def require(self, rule: str, caller: Credentials, project_id: str) -> None:
        """Raise NotAllowed unless `caller` passes `rule`."""
        if not self.allows(rule, caller, project_id):
            raise NotAllowed(f"Policy does not allow {rule} to this user in project {project_id}.")

    def is_admin(self, caller: Credentials) -> bool:
        """Return whether `caller` is an administrator of the whole service."""
        return self.allows("context_is_admin", caller, caller.project_id)

    def denied_types(self, caller: Credentials) -> tuple[str, ...]:
        """Return the resource types and wildcards that `resource_types:*` rules refuse for `caller`, sorted."""
        return self._once(caller, lambda: self._denied_types(caller))

    def _denied_types(self, caller: Credentials) -> tuple[str, ...]:
        """Evaluate the checks without `enforce`, which would check for changed files before each of them."""
        credentials = _plain(caller)
        target = {"project_id": caller.project_id}
        return tuple(
            sorted(
                rule.removeprefix(_TYPE_RULE)
                for rule, check in self._enforcer.rules.items()
                if rule.startswith(_TYPE_RULE) and not check(target, credentials, self._enforcer, rule)
            )
        )

    def _once(self, question: Hashable, decide: Callable[[], _Decision]) -> _Decision:
        """Return the result of `decide`, cached until the rules are checked for changes again."""
        self._enforcer.load_rules()
        decided = self._enforcer.decided
        if question not in decided:
            decided[question] = decide()
        decision: _Decision = decided[question]
        return decision


def _plain(caller: Credentials) -> dict[str, object]:
    return {**vars(caller), "roles": list(caller.roles)}


def _defaults() -> Iterator[policy.RuleDefault]:
    for rules in RULE_SETS:
        for name in rules.names:
            yield policy.RuleDefault(
                name,
                rules.check,
                scope_types=["project"] if rules.scoped else None,
                deprecated_rule=_deprecated(name, rules.deprecated),
            )


def _deprecated(name: str, check: str | None) -> policy.DeprecatedRule | None:
    if check is None:
        return None
    return policy.DeprecatedRule(
        name, check, deprecated_reason="Default roles and scopes", deprecated_since=DEPRECATED_SINCE
    )
