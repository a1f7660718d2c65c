"""Refactorings: new templates of several stacks at once, which move resources between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import falcon

from stoker.authoring.plan_steps import policy_sentences, summary
from stoker.base.diagnostics import Diagnostic
from stoker.console.exchange import EDIT, Exchange
from stoker.console.gateway import Answer, ApiError, segment, stack_path
from stoker.console.permissions import CREATE_STACKS_BY_REFACTOR, EXECUTE_REFACTOR, PLAN_REFACTOR
from stoker.console.plan_view import cost_lines, shown_steps
from stoker.console.rendering import as_yaml

_PAGE = 50
_AVAILABLE = "AVAILABLE"
_MOST_STACKS = 20
_OPTIONS = ("create_stacks", "changes")


@dataclass
class _Draft:
    """What the form contains: the names of stacks with their new templates, and moves a line each."""

    stacks: list[tuple[str, str]] = field(default_factory=lambda: [("", ""), ("", "")])
    moved: str = ""
    description: str = ""
    options: Sequence[str] = ()

    def body(self) -> Answer:
        """Return the body of the request. Raises ApiError."""
        named_templates = [(name, template) for name, template in self.stacks if name or template.strip()]
        if any(not name for name, _ in named_templates):
            raise ApiError(400, "Each template needs the name of its stack.")
        if len(dict(named_templates)) < len(named_templates):
            raise ApiError(400, "A stack has one template.")
        return {
            "stacks": {name: {"template": template} for name, template in named_templates},
            "moved": [_move(line) for line in self.moved.splitlines() if line.strip()],
            "description": self.description,
            **dict.fromkeys(self.options, True),
        }


def index(exchange: Exchange) -> None:
    """List the refactorings of the project, the latest first."""
    refactors: list[Answer] = exchange.api.get("/refactors")["refactors"]
    start = int(exchange.query("start")) if exchange.query("start").isdecimal() else 0
    exchange.show(
        "refactors.html",
        refactors=refactors[start : start + _PAGE],
        count=len(refactors),
        start=start,
        following=start + _PAGE if len(refactors) > start + _PAGE else 0,
        plan_refusal=exchange.permissions.refusal(*PLAN_REFACTOR),
    )


def show(exchange: Exchange) -> None:
    """Show a refactoring with what it does, and whether it can be carried out."""
    _show(exchange)


def execute(exchange: Exchange) -> None:
    """Carry a refactoring out."""
    try:
        exchange.api.send("POST", f"{_path(exchange)}/execute")
    except ApiError as error:
        if error.status == 401:
            raise
        _show(exchange, error.status, error.message)
        return
    exchange.redirect(_path(exchange))


def new(exchange: Exchange) -> None:
    """Show the form; with a `stack` in the URL, with its present template. Raises ApiError if policy refuses it."""
    exchange.permissions.require(*PLAN_REFACTOR)
    draft = _Draft()
    for place, name in enumerate((exchange.request.get_param_as_list("stack") or [])[:2]):
        draft.stacks[place] = (name, _present_template(exchange, name))
    _form(exchange, draft)


def plan(exchange: Exchange) -> None:
    """Have a refactoring examined, or show the form with one more stack, as the button says."""
    draft = _read(exchange)
    do = exchange.form("do")
    if do == EDIT:
        _form(exchange, draft)
        return
    if do == "add":
        draft.stacks = [
            (name, template if template.strip() or not name else _present_template(exchange, name))
            for name, template in draft.stacks
        ]
        draft.stacks += [("", "")] if len(draft.stacks) < _MOST_STACKS else []
        _form(exchange, draft)
        return
    try:
        refactor = exchange.api.send("POST", "/refactors", draft.body())["refactor"]
    except ApiError as error:
        if error.status == 401:
            raise
        _form(exchange, draft, error.status, error.diagnostics or (Diagnostic("refused", error.message),))
        return
    exchange.redirect(f"/refactors/{segment(refactor['id'])}")


def _show(exchange: Exchange, status: int = 200, problem: str = "") -> None:
    refactor: Answer = exchange.api.get(_path(exchange))["refactor"]
    actions: Answer = exchange.api.get(f"{_path(exchange)}/actions")
    exchange.show(
        "refactor.html",
        status,
        refactor=refactor,
        moves=_by_stacks(actions["moves"]),
        number=len(actions["moves"]),
        new_stacks=[stack["name"] for stack in actions["stacks"] if stack["is_new"]],
        plans=[
            {"stack": name, "summary": summary(plan), "steps": shown_steps(plan), "costs": cost_lines(plan)}
            for name, plan in actions["changes"].items()
        ],
        policies=[
            f"{name}: {sentence}"
            for name, policies in actions["policies"].items()
            for sentence in policy_sentences({"policies": policies})
        ],
        reason=refactor["execution_status_reason"] or refactor["status_reason"],
        is_available=refactor["execution_status"] == _AVAILABLE,
        problem=problem,
        execute_refusal=exchange.permissions.refusal(*EXECUTE_REFACTOR),
    )


def _by_stacks(moves: Sequence[Answer]) -> list[tuple[str, str, list[Answer]]]:
    """Return the moves below the stacks that they lead from and to."""
    by_stacks: dict[tuple[str, str], list[Answer]] = {}
    for move in moves:
        by_stacks.setdefault((move["from"]["stack"], move["to"]["stack"]), []).append(move)
    return [(*key, rows) for key, rows in by_stacks.items()]


def _form(exchange: Exchange, draft: _Draft, status: int = 200, problems: Sequence[Diagnostic] = ()) -> None:
    refusals = {"create_stacks": exchange.permissions.refusal(*CREATE_STACKS_BY_REFACTOR), "changes": ""}
    exchange.show("refactor_new.html", status, draft=draft, problems=problems, refusals=refusals)


def _read(exchange: Exchange) -> _Draft:
    fields = {name: [text.replace("\r\n", "\n") for text in values] for name, values in exchange.fields().items()}
    names, templates = fields.get("stack", []), fields.get("entered", [])
    if len(names) != len(templates) or len(names) > _MOST_STACKS:
        raise falcon.HTTPBadRequest(description=f"Each of at most {_MOST_STACKS} stacks has a name and a template.")
    return _Draft(
        stacks=[(name.strip(), template) for name, template in zip(names, templates, strict=True)],
        moved=fields.get("moved", [""])[-1],
        description=exchange.form("description").strip(),
        options=[name for name in _OPTIONS if exchange.form(name)],
    )


def _present_template(exchange: Exchange, name: str) -> str:
    """Return the template of a stack; an empty string if there is none of this name."""
    for stack in exchange.api.get("/stacks", {"name": name, "limit": 1})["stacks"]:
        return as_yaml(exchange.api.get(stack_path(stack["stack_name"], stack["id"], "/template")))
    return ""


def _move(line: str) -> Mapping[str, object]:
    """Return a move that is written as STACK/RESOURCE = STACK/RESOURCE. Raises ApiError."""
    places = [place.strip().partition("/") for place in line.split("=")]
    if len(places) != 2 or not all(stack and separator and resource for stack, separator, resource in places):
        raise ApiError(400, f"A move is written as STACK/RESOURCE = STACK/RESOURCE, which {line.strip()!r} is not.")
    source, target = ({"stack": stack, "resource": resource} for stack, _, resource in places)
    return {"from": source, "to": target}


def _path(exchange: Exchange) -> str:
    return f"/refactors/{segment(exchange.path['refactor_id'])}"
