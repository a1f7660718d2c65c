"""Handlers of refactorings: new definitions of several stacks at once, which move resources between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from stoker.api.requests import Body
from stoker.api.v1.call import RestCall
from stoker.api.v1.stack_body import INPUTS
from stoker.api.v1.views import time_text
from stoker.api.values import BOOLEAN, MAP_OR_STRING, STRING, Field, ListOf, MapOf, Structure
from stoker.contract.refactoring import (
    CreateStackRefactor,
    ExecuteStackRefactor,
    ListStackRefactorActions,
    ListStackRefactors,
    RefactorMove,
    RefactorView,
    ShowStackRefactor,
)

_LOCATION = Structure({"stack": Field(STRING, required=True), "resource": Field(STRING, required=True)})
_DEFINITION = Structure({"template": Field(MAP_OR_STRING, required=True), **INPUTS})

CREATE_BODY = Body(
    {
        "stacks": Field(MapOf(_DEFINITION), required=True),
        "moved": Field(
            ListOf(Structure({"from": Field(_LOCATION, required=True), "to": Field(_LOCATION, required=True)})),
            default=(),
        ),
        "create_stacks": Field(BOOLEAN, default=False),
        "changes": Field(BOOLEAN, default=False),
        "description": Field(STRING, default=""),
    },
    strict=True,
)


def create_rule(sent: Mapping[str, object] | None) -> str:
    """Return the policy rule of a request: creating stacks is another right than moving resources between them."""
    return "refactors:create_stacks" if (sent or {}).get("create_stacks") else "refactors:create"


def create(call: RestCall) -> dict[str, Any]:
    """Examine new definitions of stacks, by the names of the `stacks`, and store what they would move.

    `moved` are entries as in environments, whose own entries count, too. With `create_stacks`, stacks that do not exist
    are created. Nothing is changed. A refactoring that would do anything but move resources is CREATE_FAILED, with the
    reasons; with `changes`, only one that would not move any, or that a stack policy denies.
    """
    stacks: dict[str, dict[str, Any]] = call.body["stacks"]
    inputs = {name: {key: each[key] for key in INPUTS if each.get(key) is not None} for name, each in stacks.items()}
    creation = CreateStackRefactor(
        templates={name: _text(each["template"]) for name, each in stacks.items()},
        moved=call.body["moved"],
        creates=call.body["create_stacks"],
        description=call.body["description"],
        changes=call.body["changes"],
        inputs={name: each for name, each in inputs.items() if each},
    )
    return {"refactor": _shown(call.execute(creation))}


def _text(template: Mapping[str, object] | str) -> str:
    return template if isinstance(template, str) else orjson.dumps(template).decode()


def index(call: RestCall) -> dict[str, object]:
    """List the refactorings of the project, the latest first."""
    return {"refactors": [_shown(view) for view in call.execute(ListStackRefactors())]}


def show(call: RestCall) -> dict[str, Any]:
    """Show a refactoring: whether it can be carried out, and why not."""
    return {"refactor": _shown(call.execute(ShowStackRefactor(refactor_id=call.path["refactor_id"])))}


def list_actions(call: RestCall) -> dict[str, object]:
    """List what a refactoring does: the stacks that it creates, and the resources that it moves.

    `changes` are the plans of what it changes besides, by the names of the stacks; `policies` is what policies on plans
    say of it, by the same names.
    """
    found = call.execute(ListStackRefactorActions(refactor_id=call.path["refactor_id"]))
    return {
        "stacks": found["stacks"],
        "moves": [_move(each) for each in found["moves"]],
        "changes": found.get("changes", {}),
        "policies": found.get("policies", {}),
    }


def execute(call: RestCall) -> dict[str, Any]:
    """Carry a refactoring out, in one transaction: no service is called. Updates begin with it that make its `changes`.

    It is refused if one of the stacks has changed since the refactoring was created.
    """
    return {"refactor": _shown(call.execute(ExecuteStackRefactor(refactor_id=call.path["refactor_id"])))}


def _move(move: RefactorMove) -> dict[str, object]:
    return {
        "from": {"stack": move["from_stack"], "resource": move["from_resource"]},
        "to": {"stack": move["to_stack"], "resource": move["to_resource"]},
        "resource_type": move["resource_type"],
        "physical_resource_id": move["physical_resource_id"],
        "is_asked": move["is_asked"],
    }


def _shown(view: RefactorView) -> dict[str, object]:
    return {**view, "created_at": time_text(view["created_at"])}
