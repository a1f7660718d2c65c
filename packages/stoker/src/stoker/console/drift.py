"""Drift: how the objects of a stack in the cloud differ from its definition, and correcting that."""

from __future__ import annotations

from typing import Any

from stoker.authoring.drift_words import watch_lines
from stoker.authoring.plan_steps import summary
from stoker.console.exchange import Exchange
from stoker.console.gateway import ApiError, segment, stack_path
from stoker.console.permissions import COMPARE, CORRECT
from stoker.console.plan_view import shown_steps, told_comparison
from stoker.console.stack_pages import show


def show_drift(exchange: Exchange) -> None:
    """Offer to compare the stack with the cloud; with `compare` in the URL, do it."""
    if not exchange.query("compare"):
        _show(exchange)
        return
    plan = exchange.api.send("PATCH", _path(exchange, "/preview"), {"converge": True})["plan"]
    steps = shown_steps(plan)
    _show(
        exchange,
        steps=steps,
        summary=summary(plan),
        digest=plan["digest"] or "",
        compared=told_comparison(plan),
    )


def correct(exchange: Exchange) -> None:
    """Bring the objects back to what the stack's definition says."""
    digest = exchange.form("digest")
    body = {"converge": True, **({"plan_digest": digest} if digest else {})}
    try:
        exchange.api.send("PATCH", _path(exchange, ""), body)
    except ApiError as error:
        if error.status == 401:
            raise
        _show(exchange, error.status, problem=error.message)
        return
    exchange.redirect(f"/stacks/{segment(exchange.path['stack_name'])}/{segment(exchange.path['stack_id'])}")


def _show(exchange: Exchange, status: int = 200, **values: Any) -> None:
    common: dict[str, Any] = {
        "steps": None,
        "summary": "",
        "digest": "",
        "compared": [],
        "watch": list(watch_lines(exchange.api.send("GET", _path(exchange, "/drift/watch"))["drift_watch"])),
        "problem": "",
        "compare_refusal": exchange.permissions.refusal(*COMPARE),
        "correct_refusal": exchange.permissions.refusal(*CORRECT),
    }
    show(exchange, "drift.html", "drift", status, **{**common, **values})


def _path(exchange: Exchange, tail: str) -> str:
    return stack_path(exchange.path["stack_name"], exchange.path["stack_id"], tail)
