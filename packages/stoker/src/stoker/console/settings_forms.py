"""Settings of a stack or a project that are written as YAML: a field for each, and what is sent to the API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import falcon

from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.console.exchange import EDIT, Exchange
from stoker.console.gateway import Answer, ApiError, stack_path
from stoker.console.permissions import rule_of
from stoker.template.document import Document


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its `tail` below the settings of a stack, and of a project if that has it, and its `key` in the body.

    `read` makes the value in the body of what a user has entered; `route` is that of the API, for its rule.
    """

    label: str
    help: str
    tail: str
    key: str
    read: Callable[[str], Any]
    route: str
    example: str

    def refusal(self, exchange: Exchange) -> str:
        """Return the policy rule that refuses the user to change it; empty for none."""
        return exchange.permissions.refusal(rule_of("PUT", self.route))


def _map(text: str) -> Mapping[str, object]:
    """Return a map in YAML, within the limits of templates. Raises ApiError for anything else."""
    try:
        return Document.parse(text, source="line").data
    except TemplateInvalid as error:
        raise ApiError(400, "The document is no map in YAML.", tuple(error.diagnostics)) from error
    except RequestLimitExceeded as error:
        raise ApiError(400, f"The document is too large: {error}") from error


SETTINGS: Mapping[str, Setting] = {
    "change_control": Setting(
        "Approvals, windows and freezes",
        "Keys: approvals, windows, freezes, automatic, valid_hours, notify.",
        "/change_control",
        "change_control",
        _map,
        "/change_control",
        """windows:
- name: nights of Saturday
  start: 2026-01-03T22:00
  end: 2026-01-04T04:00
  repeat: FREQ=WEEKLY;BYDAY=SA
  time_zone: Europe/Berlin
freezes:
- name: Christmas
  start: 2026-12-20T00:00
  end: 2027-01-06T00:00
  repeat: FREQ=YEARLY
""",
    ),
    "plan_policies": Setting(
        "Policies on plans",
        "A list policies: each has a name, types, an expression that must be true of their steps, and a message.",
        "/plan_policies",
        "plan_policies",
        lambda text: text,
        "/plan_policies",
        """policies:
- name: small-volumes
  types: [OS::Cinder::Volume]
  expression: step.properties.size <= 100
  message: a volume has 100 GiB at most
""",
    ),
    "policy": Setting(
        "Stack policy",
        "Statements in the format of AWS CloudFormation. Creating resources is always allowed; without a policy, all "
        "updates are.",
        "/policy",
        "policy",
        _map,
        "/stacks/{stack_name}/{stack_id}/settings/policy",
        """Statement:
- {Effect: Allow, Action: "Update:*", Principal: "*", Resource: "*"}
- {Effect: Deny, Action: ["Update:Replace", "Update:Delete"], Principal: "*", Resource: LogicalResourceId/volume}
""",
    ),
}
"""The settings by the names in forms."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has come of a form, for the page that is shown then.

    `entered` are the documents by the names of settings; `key` verifies the signatures of requests to new webhooks.
    """

    status: int = 200
    problem: str = ""
    entered: Mapping[str, str] | None = None
    key: str = ""


def settings_path(exchange: Exchange) -> str:
    """Return where the settings are of the stack in the URL; those of the project without one."""
    if "stack_id" not in exchange.path:
        return ""
    return stack_path(exchange.path["stack_name"], exchange.path["stack_id"], "/settings")


def change(exchange: Exchange) -> Outcome:
    """Set or remove what the form says. Raises falcon.HTTPError for an unknown setting, ApiError without a session."""
    name, entered, do = exchange.form("setting"), exchange.form("entered").replace("\r\n", "\n"), exchange.form("do")
    setting = SETTINGS.get(name)
    if setting is None or do not in (EDIT, "set", "remove"):
        raise falcon.HTTPBadRequest(description="The form names no setting, or does not say what to do with it.")
    path = settings_path(exchange) + setting.tail
    try:
        match do:
            case "set":
                answer = exchange.api.send("PUT", path, {setting.key: setting.read(entered)})
            case "remove":
                answer = exchange.api.send("DELETE", path)
            case _:
                return Outcome(entered={name: entered})
    except ApiError as error:
        if error.status == 401:
            raise
        problem = " ".join([error.message, *(item.text() for item in error.diagnostics)])
        return Outcome(error.status, problem, {name: entered})
    setting_answer: Answer = (answer or {}).get(setting.key) or {}
    return Outcome(key=str(setting_answer.get("webhook_key") or ""))


def fields(exchange: Exchange, chosen: Mapping[str, str], outcome: Outcome) -> list[dict[str, Any]]:
    """Return the forms for settings, whose present documents are `chosen` by their names."""
    entered = outcome.entered or {}
    return [
        {
            "name": name,
            "setting": SETTINGS[name],
            "present": text,
            "text": entered.get(name, text),
            "open": name in entered,
            "refusal": SETTINGS[name].refusal(exchange),
        }
        for name, text in chosen.items()
    ]
