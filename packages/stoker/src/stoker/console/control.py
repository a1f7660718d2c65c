"""What changes of a stack, or of all stacks of the project, need; and what protects a stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoker.console import stack_pages
from stoker.console.actions import STACK, STACK_ACTIONS
from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer
from stoker.console.rendering import as_yaml
from stoker.console.settings_forms import Outcome, change, fields, settings_path

_PROTECTIONS = ("lock", "unlock", "protect", "unprotect")


def of_stack(exchange: Exchange) -> None:
    """Show what changes of a stack need: approvals, windows and freezes, and policies on their plans."""
    _show_of_stack(exchange, Outcome())


def change_of_stack(exchange: Exchange) -> None:
    """Set or remove what changes of a stack need."""
    _changed(exchange, _show_of_stack, "/control")


def of_project(exchange: Exchange) -> None:
    """Show what changes of all stacks of the project need."""
    _show_of_project(exchange, Outcome())


def change_of_project(exchange: Exchange) -> None:
    """Set or remove what changes of all stacks of the project need."""
    _changed(exchange, _show_of_project, "/control")


def protection(exchange: Exchange) -> None:
    """Show what protects a stack: a lock, protection from deletion, and its policy for updates."""
    _show_protection(exchange, Outcome())


def change_policy(exchange: Exchange) -> None:
    """Set or remove the policy for updates of a stack."""
    _changed(exchange, _show_protection, "/protection")


def _changed(exchange: Exchange, show: Callable[[Exchange, Outcome], None], tail: str) -> None:
    """Do what the form says; continue with the page, or show it at once if there is something to say."""
    outcome = change(exchange)
    if outcome == Outcome():
        exchange.redirect(settings_path(exchange).removesuffix("/settings") + tail)
    else:
        show(exchange, outcome)


def _show_of_stack(exchange: Exchange, outcome: Outcome) -> None:
    of_project = exchange.api.get("/change_control")["change_control"]
    control, values = _control(exchange, outcome)
    chosen = [("this stack", control["chosen"]), ("all stacks of the project", of_project["chosen"])]
    stack_pages.show(exchange, "control.html", "control", outcome.status, **values, **_calendar(chosen))


def _show_of_project(exchange: Exchange, outcome: Outcome) -> None:
    control, values = _control(exchange, outcome)
    exchange.show(
        "project_control.html",
        outcome.status,
        **values,
        **_calendar([("all stacks of the project", control["chosen"])]),
    )


def _control(exchange: Exchange, outcome: Outcome) -> tuple[Answer, dict[str, Any]]:
    """Return what changes need, and what the pages show of it."""
    path = settings_path(exchange)
    control: Answer = exchange.api.get(f"{path}/change_control")["change_control"]
    policies: Answer = exchange.api.get(f"{path}/plan_policies")["plan_policies"]
    chosen = {
        "change_control": as_yaml(control["chosen"]) if control["chosen"] else "",
        "plan_policies": policies["chosen"] or "",
    }
    return control, {
        "control": control,
        "policies": policies["policies"],
        "outcome": outcome,
        "fields": fields(exchange, chosen, outcome),
    }


def _calendar(chosen: list[tuple[str, Answer | None]]) -> dict[str, Any]:
    """Return the windows and the freezes, each with those that it is for."""
    return {
        key: [{**period, "scope": whose} for whose, body in chosen if body for period in body.get(key, ())]
        for key in ("windows", "freezes")
    }


def _show_protection(exchange: Exchange, outcome: Outcome) -> None:
    settings: Answer = exchange.api.get(settings_path(exchange))["settings"]
    policy = as_yaml(settings["policy"]) if settings["policy"] else ""
    stack_pages.show(
        exchange,
        "protection.html",
        "protection",
        outcome.status,
        settings=settings,
        outcome=outcome,
        fields=fields(exchange, {"policy": policy}, outcome),
        protections={name: STACK_ACTIONS[name] for name in _PROTECTIONS},
        protection_refusals=STACK.refusals(exchange),
    )
