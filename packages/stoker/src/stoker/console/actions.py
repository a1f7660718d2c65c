"""Actions on stacks, resources and snapshots: each asks for confirmation, and is one request to the API."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import falcon

from stoker.authoring.plan_steps import UNPLANNED, data_losses, policy_sentences, retentions, summary
from stoker.console.exchange import EDIT, Exchange
from stoker.console.gateway import Answer, ApiError, segment, stack_path
from stoker.console.permissions import STACK_ROUTE, rule_of
from stoker.console.plan_view import comparison_lines, cost_lines, shown_steps
from stoker.console.rendering import split_state
from stoker.console.stacks import DELETED, present_stack
from stoker.operations.lookup import RULES, RequestDecision

_FAILURES = frozenset({"action-failed", "update-unfinished", "check-failed"})
"""The codes of reasons for steps about failed resources."""

Sent = tuple[Mapping[str, str], Any]
"""The query and the body of a request."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action: its `label`, what it does, and its request to the API.

    The request is `method` at `tail` below the subject, with the body that `body` and the query that `query` makes of
    what the user enters into the field `field`; an action without a field gets an empty string. One with `danger`
    destroys something; one that is `rare` is offered in a menu. `keep` is the label of the link that does nothing.
    `preview` is the path of its plan below the subject, which `method` with the same body returns. The action is then
    done only as the plan says: `planned` puts the digest of the plan, and what the user has entered, into the query and
    the body. It has none if the last action of the stack is one of `unplanned`. `choice` is what the steps of the plan
    that it `can_choose` can be marked with: their paths are entered, too. `page` is the page of the stack to continue
    with, if it is not the first one.
    """

    label: str
    effect: str
    method: str = "POST"
    tail: str = "/actions"
    body: Callable[[str], Any] = lambda _entered: None
    query: Callable[[str], Mapping[str, Any]] = lambda _entered: {}
    field: str = ""
    help: str = ""
    danger: bool = False
    rare: bool = False
    keep: str = "Keep as it is"
    preview: str = ""
    planned: Callable[[str, str], Sent] = lambda _digest, _entered: ({}, None)
    unplanned: Collection[str] = ()
    choice: str = ""
    can_choose: Callable[[Answer], bool] = lambda _step: False
    page: str = ""


def _named(name: str, label: str, effect: str, **more: Any) -> Action:
    """Return an action with the name that it has in the body of `POST …/actions`."""

    def planned(digest: str, _entered: str) -> Sent:
        return {}, {name: {"plan_digest": digest}}

    return Action(label, effect, body=lambda _entered: {name: None}, planned=planned, **more)


def _details(entered: str) -> object:
    """Return the body of a signal. Raises ApiError for invalid JSON."""
    try:
        return json.loads(entered) if entered.strip() else None
    except ValueError as error:
        raise ApiError(400, f"The data of a signal is JSON: {error}.") from None


STACK_ACTIONS: Mapping[str, Action] = {
    "retry": Action(
        "Retry",
        "Stoker continues the action that failed.",
        body=lambda entered: {"retry": {"skip": entered.split()} if entered.strip() else None},
        preview="/actions/preview",
        planned=lambda digest, entered: ({}, {"retry": {"plan_digest": digest, "skip": entered.split()}}),
        unplanned=UNPLANNED,
        field="Without",
        help="Optional: failed resources to continue without, separated by spaces, or marked in the plan. Their "
        "objects stay as they are.",
        choice="Continue without it",
        can_choose=lambda step: bool(_FAILURES.intersection(step["codes"])),
    ),
    "rollback": _named(
        "rollback", "Roll back", "Stoker returns the stack to its last good definition.", preview="/actions/preview"
    ),
    "cancel_update": _named(
        "cancel_update",
        "Cancel",
        "Stoker cancels the update and returns the stack to the former template.",
        keep="Let it continue",
        preview="/actions/preview",
    ),
    "cancel_without_rollback": _named(
        "cancel_without_rollback",
        "Stop",
        "Stoker stops the operation and leaves the resources as they are. The stack becomes failed; Update or Retry "
        "continues.",
        keep="Let it continue",
    ),
    "check": _named(
        "check", "Check", "Stoker asks the cloud for each resource of the stack, and records which are unhealthy."
    ),
    "suspend": _named(
        "suspend", "Suspend", "Stoker suspends the servers and other resources of the stack that support it.", rare=True
    ),
    "resume": _named("resume", "Resume", "Stoker resumes the suspended resources of the stack."),
    "snapshot": Action(
        "Snapshot",
        "Stoker saves the state of the stack, with images of servers and backups of volumes, to restore it later.",
        tail="/snapshots",
        body=lambda entered: {"name": entered.strip()} if entered.strip() else {},
        field="Name",
        help="Optional.",
        rare=True,
        keep="Take no snapshot",
    ),
    "lock": Action(
        "Lock",
        "Nothing changes the stack until it is unlocked: updates, deletions and other actions are refused, and so are "
        "signals that scale. It is not healed. What is in progress continues.",
        method="PUT",
        tail="/settings/lock",
        body=lambda entered: {"reason": entered},
        field="Reason",
        help="Everybody who is refused reads it.",
        rare=True,
        keep="Do not lock it",
    ),
    "unlock": Action(
        "Unlock",
        "Actions on the stack are possible again.",
        method="DELETE",
        tail="/settings/lock",
        keep="Keep it locked",
    ),
    "abandon": Action(
        "Abandon",
        "Stoker deletes its record of the stack, and leaves the resources in the cloud. The next page has the data with"
        " which the stack can be adopted again: save it.",
        method="DELETE",
        tail="/abandon",
        danger=True,
        rare=True,
    ),
    "delete": Action(
        "Delete",
        "Stoker deletes the stack and all of its resources.",
        method="DELETE",
        tail="",
        query=lambda entered: {"retain": entered.split()},
        field="Keep the objects of",
        help="Optional: resources whose objects stay in the cloud, separated by spaces, such as data or group.0.data; "
        "or mark them in the plan.",
        danger=True,
        preview="/preview",
        planned=lambda digest, _entered: ({"plan_digest": digest}, None),
        choice="Keep its object",
        can_choose=lambda step: step["kind"] == "delete",
    ),
    "force_delete": Action(
        "Force deletion",
        "Stoker tries again to delete each object, and leaves behind those whose deletion fails. The stack is deleted.",
        method="DELETE",
        tail="",
        query=lambda _entered: {"force": "true"},
        danger=True,
        rare=True,
        preview="/preview",
        planned=lambda digest, _entered: ({"plan_digest": digest}, None),
    ),
    "protect": Action(
        "Protect from deletion",
        "The stack cannot be deleted until that is allowed again. Updates can still remove its resources.",
        method="PUT",
        tail="/settings/protection",
        keep="Do not protect it",
        page="/protection",
    ),
    "unprotect": Action(
        "Allow deletion",
        "The stack can be deleted again.",
        method="DELETE",
        tail="/settings/protection",
        keep="Keep it protected",
        page="/protection",
    ),
}
"""The actions on stacks by the name in the URL."""

RESOURCE_ACTIONS: Mapping[str, Action] = {
    "signal": Action(
        "Signal",
        "Stoker passes the signal to the resource: for example, it completes a wait condition, removes a hook, or "
        "scales a group.",
        tail="/signal",
        body=_details,
        field="Data",
        help='Optional: JSON, such as {"status": "SUCCESS"} or {"unset_hook": "pre-create"}.',
        keep="Send nothing",
    ),
    "unhealthy": Action(
        "Mark unhealthy",
        "The next update of the stack replaces the resource.",
        method="PATCH",
        tail="",
        body=lambda entered: {"mark_unhealthy": True, "resource_status_reason": entered.strip()},
        field="Reason",
        help="Optional.",
        danger=True,
    ),
    "healthy": Action(
        "Mark healthy",
        "The next update of the stack keeps the resource.",
        method="PATCH",
        tail="",
        body=lambda entered: {"mark_unhealthy": False, "resource_status_reason": entered.strip()},
        field="Reason",
        help="Optional.",
    ),
}

SNAPSHOT_ACTIONS: Mapping[str, Action] = {
    "restore": Action(
        "Restore",
        "Stoker returns the stack to the state of the snapshot. What has changed since then is lost.",
        tail="/restore",
        danger=True,
        preview="/restore/preview",
        planned=lambda digest, _entered: ({}, {"plan_digest": digest}),
    ),
    "delete": Action(
        "Delete",
        "Stoker deletes the snapshot, with its images and backups.",
        method="DELETE",
        tail="",
        danger=True,
        keep="Keep it",
    ),
}


_UNDELETED = "DELETE_FAILED"


def offered(stack: Mapping[str, Any]) -> dict[str, Action]:
    """Return the actions that are possible for a stack: of a locked one, what stops an operation, and to unlock it."""
    state = stack["stack_status"]
    if state == DELETED:
        return {}
    locking = () if stack.get("parent") else ("unlock",) if stack.get("locked") else ("lock",)
    forcing = ("force_delete",) if state == _UNDELETED else ()
    choices = (*STACK_ACTIONS.keys() & RULES.keys(), *locking, *forcing)
    if stack.get("locked"):
        choices = ("cancel_without_rollback", *locking)
    return {
        name: item
        for name, item in STACK_ACTIONS.items()
        if name in choices
        and (name not in RULES or RULES[name].decide(split_state(state)) is RequestDecision.TAKEN)
        and (name != "resume" or state in ("SUSPEND_COMPLETE", "SUSPEND_FAILED", "RESUME_FAILED"))
        and (name != "rollback" or state not in ("CREATE_FAILED", "ADOPT_FAILED"))  # no definition to return to
    }


def can_update(state: str) -> bool:
    """Return whether a stack in this state can be updated."""
    return state != DELETED and RULES["update"].decide(split_state(state)) is RequestDecision.TAKEN


@dataclass(frozen=True, slots=True)
class Subject:
    """What actions are done on: the stack in the URL, or the thing below it that the variable `variable` names.

    `folder` is the part of the URL before that; `back` the page to continue with, if it is not that of the thing.
    """

    noun: str
    actions: Mapping[str, Action]
    variable: str = "stack_name"
    folder: str = ""
    back: str | None = None

    def refusals(self, exchange: Exchange) -> dict[str, str]:
        """Return the policy rule that refuses each action to the user, by the action's name; empty for none."""
        return {name: exchange.permissions.refusal(self.rule(action)) for name, action in self.actions.items()}

    def rule(self, action: Action) -> str:
        """Return the policy rule that an action needs."""
        route = STACK_ROUTE + (f"{self.folder}/{{{self.variable}}}" if self.folder else "")
        return rule_of(action.method, route + action.tail, action.body(""))

    def confirm(self, exchange: Exchange) -> None:
        """Ask whether an action is to be done. Raises ApiError if policy does not allow it."""
        exchange.permissions.require(self.rule(self._action(exchange)))
        self._ask(exchange, 200, "")

    def act(self, exchange: Exchange) -> None:
        """Do the action, or ask again with what was entered in a former session."""
        action = self._action(exchange)
        if exchange.form("do") == EDIT:
            self._ask(exchange, 200, "")
            return
        digest, entered = exchange.form("digest"), _entered(exchange)
        if digest and set(entered.split()) != set(exchange.form("planned").split()):
            self._ask(exchange, 200, "")  # the plan is another one
            return
        query, body = action.planned(digest, entered) if digest else ({}, action.body(entered))
        query = {**query, **action.query(entered)}
        try:
            answer = exchange.api.send(action.method, self._api_path(exchange) + action.tail, body, query)
        except ApiError as error:
            if error.status == 401:
                raise
            self._ask(exchange, error.status, error.message)
            return
        if action.tail == "/abandon":
            data = json.dumps(answer, indent=2, ensure_ascii=False)
            exchange.show("abandoned.html", name=exchange.path["stack_name"], data=data)
            return
        exchange.redirect(self._continuation(exchange))

    def _action(self, exchange: Exchange) -> Action:
        name = exchange.path["action"]
        if name not in self.actions:
            raise falcon.HTTPNotFound(description=f"There is no action {name}.")
        return self.actions[name]

    def _tail(self, exchange: Exchange) -> str:
        return f"{self.folder}/{segment(exchange.path[self.variable])}" if self.folder else ""

    def _api_path(self, exchange: Exchange) -> str:
        return stack_path(exchange.path["stack_name"], exchange.path["stack_id"], self._tail(exchange))

    def _page(self, exchange: Exchange) -> str:
        return _stack_page(exchange) + self._tail(exchange)

    def _continuation(self, exchange: Exchange) -> str:
        page = self._page(exchange) if self.back is None else _stack_page(exchange) + self.back
        return page + self._action(exchange).page

    def _ask(self, exchange: Exchange, status: int, problem: str) -> None:
        action = self._action(exchange)
        stack = present_stack(exchange)
        entered = _entered(exchange) if exchange.request.method == "POST" else ""
        plan: Answer | None = None
        if action.preview and split_state(stack["stack_status"])[0] not in action.unplanned:
            path = self._api_path(exchange) + action.preview
            try:
                plan = exchange.api.send(action.method, path, action.body(entered), action.query(entered))
            except ApiError as error:
                if error.status == 401:
                    raise
                status, problem = (status, problem) if problem else (error.status, error.message)
        exchange.show(
            "confirm.html",
            status,
            stack=stack,
            question=f"{action.label} {self.noun} {self._called(exchange)}".rstrip(),
            target=f"{self._page(exchange)}/actions/{exchange.path['action']}",
            back=self._continuation(exchange),
            action=action,
            entered=entered,
            problem=problem,
            **_shown_plan(plan, entered, action.can_choose),
        )

    def _called(self, exchange: Exchange) -> str:
        if self.variable != "snapshot_id":
            return exchange.path[self.variable]
        path = stack_path(exchange.path["stack_name"], exchange.path["stack_id"], self._tail(exchange))
        snapshot: Answer = exchange.api.get(path)["snapshot"]
        return str(snapshot["name"] or snapshot["id"])


def _shown_plan(previewed: Answer | None, entered: str, can_choose: Callable[[Answer], bool]) -> dict[str, object]:
    """Return what the page shows of the preview of an action; `steps` is None without one.

    Of the paths that were `entered`, those of steps that can be chosen are `marked`; `typed` are the others.
    """
    if previewed is None:
        return {
            "steps": None,
            "marked": [],
            "typed": entered,
            "summary": "",
            "losses": "",
            "retained": "",
            "costs": [],
            "policies": [],
            "snapshots": [],
            "compared": [],
            "digest": "",
        }
    plan = previewed["plan"]
    steps = [{**step, "choosable": can_choose(step)} for step in shown_steps(plan)]
    paths = {step["path"] for step in steps if step["choosable"]}
    return {
        "steps": steps,
        "marked": [path for path in entered.split() if path in paths],
        "typed": " ".join(path for path in entered.split() if path not in paths),
        "summary": summary(plan),
        "losses": data_losses(plan),
        "retained": retentions(plan),
        "costs": cost_lines(plan),
        "policies": policy_sentences(plan),
        "snapshots": [snapshot["name"] or snapshot["id"] for snapshot in previewed.get("snapshots", ())],
        "compared": comparison_lines(plan),
        "digest": plan["digest"] or "",
    }


def _entered(exchange: Exchange) -> str:
    """Return what the user has entered into the field of an action, with the paths that are marked in the plan."""
    marked = exchange.fields().get("marked", [])
    return " ".join(dict.fromkeys([*exchange.form("entered").split(), *marked])) if marked else exchange.form("entered")


STACK = Subject("the stack", STACK_ACTIONS)
RESOURCE = Subject("the resource", RESOURCE_ACTIONS, "resource_name", "/resources")
SNAPSHOT = Subject("the snapshot", SNAPSHOT_ACTIONS, "snapshot_id", "/snapshots", "/snapshots")


def _stack_page(exchange: Exchange) -> str:
    return stack_path(exchange.path["stack_name"], exchange.path["stack_id"])
