"""Generate the page about permissions by evaluating the default policy for the usual kinds of caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.api.auth import Credentials, Policy
from stoker.api.faults import BadRequest
from stoker.api.v1.call import Action
from stoker.api.v1.routes import ROUTES
from stoker.base.config import load_config
from stoker_reference.markdown import code, page, table

PROJECT, OTHER = "p1", "p2"

PERSONAS: Mapping[str, Credentials] = {
    "administrator": Credentials("u", PROJECT, ("admin", "manager", "member", "reader")),
    "manager": Credentials("u", PROJECT, ("manager", "member", "reader"), is_admin_project=False),
    "member": Credentials("u", PROJECT, ("member", "reader"), is_admin_project=False),
    "reader": Credentials("u", PROJECT, ("reader",), is_admin_project=False),
    "stack user": Credentials("u", PROJECT, ("heat_stack_user",), is_admin_project=False),
    "no role": Credentials("u", PROJECT, (), is_admin_project=False),
    "member elsewhere": Credentials("u", OTHER, ("member", "reader"), is_admin_project=False),
    "administrator elsewhere": Credentials("u", OTHER, ("admin", "manager", "member", "reader")),
    "system administrator": Credentials("u", "", ("admin", "member", "reader"), system_scope="all"),
    "system reader": Credentials("u", "", ("reader",), is_admin_project=False, system_scope="all"),
    "domain administrator": Credentials("u", "", ("admin", "member", "reader"), is_admin_project=False, domain_id="d"),
}
"""Kinds of callers. The URL contains the project `PROJECT`."""

SHOWN = ("administrator", "manager", "member", "reader", "stack user")
"""The kinds with their own column; all others are always refused."""

_BODIES: tuple[dict[str, Any], ...] = (
    {"suspend": None},
    {"resume": None},
    {"check": None},
    {"cancel_update": None},
    {"cancel_without_rollback": None},
    {"retry": None},
    {"rollback": None},
    {"accept_drift": None},
    {"template": "x"},
    {},
)
"""Request bodies that cover all policy rules of actions whose rule depends on the body."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page about permissions."""
    policy = Policy(load_config([], []))
    rows = [
        (code(f"{method} {path}"), code(rule), *("yes" if allowed(policy, rule, name) else "" for name in SHOWN))
        for path, methods in ROUTES.items()
        for method, action in methods.items()
        for rule in rules_of(action)
    ]
    refused = ", ".join(name for name in PERSONAS if name not in SHOWN)
    yield (
        "permissions.md",
        page(
            "Permissions",
            "The requests that the default policy allows for the usual kinds of callers, with a token for the project "
            "in the URL. Stacks of other projects are answered with 404 for all of them. A *stack user*, the identity "
            "with which a server signals and polls, has access only to the resource that it belongs to.",
            f"Always refused, with 403: {refused}. A request without a valid token gets 401.",
            table(("Request", "Policy rule", *SHOWN), rows),
        ),
    )


def allowed(policy: Policy, rule: str, persona: str) -> bool:
    """Return whether a kind of caller passes a rule for the project in the URL."""
    return policy.allows(rule, PERSONAS[persona], PROJECT)


def rules_of(action: Action) -> list[str]:
    """Return the rules that can apply to an action, depending on its body."""
    if isinstance(action.policy, str):
        return [action.policy]
    found: list[str] = []
    for body in _BODIES:
        try:
            found.append(action.policy(body))
        except BadRequest:
            continue
    return list(dict.fromkeys(found))
