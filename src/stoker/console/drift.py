"""Drift: how the objects of a stack in the cloud differ from its definition, and correcting that."""

from __future__ import annotations

from stoker.authoring.plan_steps import summary
from stoker.console.exchange import Exchange
from stoker.console.gateway import ApiError, segment, stack_path
from stoker.console.plan_view import shown_steps
from stoker.console.stack_pages import show


def show_drift(exchange: Exchange) -> None:
    """Offer to compare the stack with the cloud; with `compare` in the URL, do it."""
    if not exchange.query("compare"):
        show(exchange, "drift.html", "drift", steps=None, summary="", digest="", problem="")
        return
    plan = exchange.api.send("PATCH", _path(exchange, "/preview"), {"converge": True})["plan"]
    steps = shown_steps(plan)
    show(exchange, "drift.html", "drift", steps=steps, summary=summary(plan), digest=plan["digest"] or "", problem="")


def correct(exchange: Exchange) -> None:
    """Bring the objects back to what the stack's definition says."""
    digest = exchange.form("digest")
    body = {"converge": True, **({"plan_digest": digest} if digest else {})}
    try:
        exchange.api.send("PATCH", _path(exchange, ""), body)
    except ApiError as error:
        if error.status == 401:
            raise
        show(exchange, "drift.html", "drift", error.status, steps=None, summary="", digest="", problem=error.message)
        return
    exchange.redirect(f"/stacks/{segment(exchange.path['stack_name'])}/{segment(exchange.path['stack_id'])}")


def _path(exchange: Exchange, tail: str) -> str:
    return stack_path(exchange.path["stack_name"], exchange.path["stack_id"], tail)
