"""Drift: how the objects of a stack in the cloud differ from its definition; bringing them back, or accepting that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import falcon

from stoker.authoring.drift_watch_text import watch_lines
from stoker.authoring.plan_steps import summary
from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, ApiError, segment, stack_path
from stoker.console.permissions import ACCEPT, COMPARE, CORRECT, WATCH
from stoker.console.plan_view import comparison_lines, shown_steps
from stoker.console.stack_pages import show

_MODES = {
    "default": "what the operator has chosen",
    "off": "look only when asked",
    "detect": "look regularly",
    "repair": "look regularly, and bring the stack back",
}
_IN_PROGRESS, _FAILED = "IN_PROGRESS", "FAILED"


def show_drift(exchange: Exchange) -> None:
    """Offer to compare the stack with the cloud; with a `detection` in the URL, show how far it is, or its result."""
    detection_id = exchange.query("detection")
    if not detection_id:
        _show(exchange)
        return
    path = f"/drift/detections/{segment(detection_id)}"
    detection: Answer = exchange.api.get(_path(exchange, path))["drift_detection"]
    if detection["status"] == _IN_PROGRESS:
        _show(exchange, detection=detection)
    elif detection["status"] == _FAILED:
        _show(exchange, problem=f"The stack could not be compared with the cloud: {detection['reason']}")
    else:
        plan = exchange.api.get(_path(exchange, "/drift"), {"detection": detection_id})["plan"]
        _show(
            exchange,
            steps=[{**step, "choosable": step["kind"] == "update" and step["changes"]} for step in shown_steps(plan)],
            summary=summary(plan),
            digest=plan["digest"] or "",
            compared=comparison_lines(plan),
        )


def settle(exchange: Exchange) -> None:
    """Compare, bring the objects back, accept how they are, or choose what the service does, as the button says."""
    do = exchange.form("do")
    try:
        if do not in _STEPS:
            raise falcon.HTTPBadRequest(description="Compare the stack with the cloud first.")
        _STEPS[do](exchange)
    except ApiError as error:
        if error.status == 401:
            raise
        _show(exchange, error.status, problem=error.message)


def _compare(exchange: Exchange) -> None:
    begun = exchange.api.send("POST", _path(exchange, "/drift/detections"))["drift_detection"]
    exchange.redirect(_path(exchange, "/drift"), detection=begun["id"])


def _correct(exchange: Exchange) -> None:
    digest = exchange.form("digest")
    exchange.api.send("PATCH", _path(exchange, ""), {"converge": True, **({"plan_digest": digest} if digest else {})})
    exchange.redirect(_path(exchange, ""))


def _accept(exchange: Exchange) -> None:
    from stoker.authoring.accepted_values import as_template_changes  # rarely needed

    chosen = exchange.fields().get("resource", [])
    if not chosen:
        raise ApiError(400, "Nothing was accepted: mark the resources whose values are to be kept.")
    answer = exchange.api.send("POST", _path(exchange, "/actions"), {"accept_drift": {"resources": chosen}})
    accepted = answer["accept_drift"]
    _show(
        exchange,
        accepted=[difference["path"] for difference in accepted if difference["accepted"]],
        not_accepted=[difference for difference in accepted if not difference["accepted"]],
        template_changes=as_template_changes(accepted),
    )


def _watch(exchange: Exchange) -> None:
    exchange.api.send("PATCH", _path(exchange, "/drift/watch"), {"mode": exchange.form("mode")})
    exchange.redirect(_path(exchange, "/drift"))


_STEPS = {"compare": _compare, "correct": _correct, "accept": _accept, "watch": _watch}


def _show(exchange: Exchange, status: int = 200, **values: Any) -> None:
    watch: Mapping[str, object] = exchange.api.get(_path(exchange, "/drift/watch"))["drift_watch"]
    common: dict[str, object] = {
        "detection": None,
        "steps": None,
        "summary": "",
        "digest": "",
        "compared": [],
        "accepted": [],
        "not_accepted": [],
        "template_changes": "",
        "watch": list(watch_lines(watch)),
        "modes": _MODES,
        "mode": watch["mode"] if watch["chosen"] else "default",
        "problem": "",
        "refusals_of_drift": {
            name: exchange.permissions.refusal(*rules)
            for name, rules in (("compare", COMPARE), ("correct", CORRECT), ("accept", ACCEPT), ("watch", WATCH))
        },
    }
    show(exchange, "drift.html", "drift", status, **{**common, **values})


def _path(exchange: Exchange, tail: str) -> str:
    return stack_path(exchange.path["stack_name"], exchange.path["stack_id"], tail)
