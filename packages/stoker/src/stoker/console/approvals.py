"""Changes that wait for approval."""

from __future__ import annotations

from datetime import datetime

import falcon

from stoker.authoring.plan_steps import policy_sentences, summary
from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, ApiError, segment
from stoker.console.permissions import BREAK_GLASS, REVIEW
from stoker.console.plan_view import cost_lines, shown_steps

_DECISIONS = {"approve": "APPROVED", "reject": "REJECTED"}
_A_MOMENT = 5.0
"""Seconds between the beginning of a request and the answer of the API, at most, for what is open now."""
_OPEN = ("WAITING", "APPROVED", "REJECTED")


def index(exchange: Exchange) -> None:
    """List the changes of the project that wait, or with `all` in the URL, those that have waited, too."""
    everything = bool(exchange.query("all"))
    query = {} if everything else {"status": list(_OPEN)}
    requests = exchange.api.get("/change_requests", query)["change_requests"]
    exchange.show("approvals.html", requests=requests, everything=everything)


def show(exchange: Exchange) -> None:
    """Show a change with its plan, its approvals and rejections."""
    _show(exchange)


def review(exchange: Exchange) -> None:
    """Approve or reject a change, or allow it in an emergency."""
    do, comment = exchange.form("do"), exchange.form("comment").strip()
    path = _path(exchange)
    try:
        if do == "break_glass":
            exchange.api.send("POST", f"{path}/break_glass", {"reason": comment})
        elif do in _DECISIONS:
            exchange.api.send("PUT", f"{path}/approval", {"verdict": _DECISIONS[do], "comment": comment})
        else:
            raise falcon.HTTPBadRequest(description="Approve the change or reject it.")
    except ApiError as error:
        if error.status == 401:
            raise
        _show(exchange, error.status, problem=error.message, comment=comment)
        return
    exchange.redirect(f"/approvals/{segment(exchange.path['request_id'])}")


def _show(exchange: Exchange, status: int = 200, problem: str = "", comment: str = "") -> None:
    change_request = exchange.api.get(_path(exchange))["change_request"]
    plan: Answer | None = change_request["plan"]
    values: dict[str, object] = {"steps": [], "summary": "", "policies": [], "costs": []}
    if plan is not None:
        values = {
            "steps": shown_steps(plan),
            "summary": summary(plan),
            "policies": policy_sentences(plan),
            "costs": cost_lines(plan),
        }
    exchange.show(
        "approval.html",
        status,
        request=change_request,
        is_open=change_request["status"] in _OPEN,
        window=_window(change_request["opens_at"], exchange.now),
        problem=problem,
        comment=comment,
        review_refusal=exchange.permissions.refusal(*REVIEW),
        break_refusal=exchange.permissions.refusal(*BREAK_GLASS),
        **values,
    )


def _window(opens_at: str | None, now: float) -> str:
    """Return whether changes are allowed by windows and freezes, which open at a time."""
    if opens_at is None:
        return "closed for the next two years"
    opens = datetime.fromisoformat(opens_at)
    return "open" if opens.timestamp() <= now + _A_MOMENT else f"opens at {opens_at}"


def _path(exchange: Exchange) -> str:
    return f"/change_requests/{segment(exchange.path['request_id'])}"
