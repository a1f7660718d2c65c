"""Creating and changing stacks: the template, a form for its parameters, the plan, and applying that.

All steps send one form, whose button `do` says what comes next: `check` the template, `plan`, `apply` the plan, or
`edit` again. The values of hidden parameters return to the browser only in encrypted form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stoker.authoring.plan_steps import is_whole, policy_sentences, summary
from stoker.base.diagnostics import Diagnostic, Position
from stoker.console.assistance import FILE, files_of
from stoker.console.declarations import declarations, given_names
from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, ApiError, segment, stack_path
from stoker.console.permissions import CREATE, UPDATE
from stoker.console.plan_view import (
    as_text,
    comparison_lines,
    cost_lines,
    kept_values,
    shown_steps,
)
from stoker.console.rendering import as_yaml, signature
from stoker.console.stack_pages import below
from stoker.console.stacks import present_stack
from stoker.language_server.outline import Outline

_EXAMPLE = """heat_template_version: 2021-04-16

description: A network with a server

parameters:
  flavor:
    type: string
    default: m1.small

resources:
  network:
    type: OS::Neutron::Net

  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: {get_resource: network}
      cidr: 10.0.0.0/24

  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: {get_param: flavor}
      networks:
        - subnet: {get_resource: subnet}

outputs:
  address:
    value: {get_attr: [server, first_address]}
"""
_FIELD = "parameter:"
"""Begins the names of the form's fields for parameters."""

_PSEUDO = "OS::"
_ENVIRONMENT = "environment"
"""The name of the environment in the editor, among the files that are sent to be checked."""


@dataclass
class Draft:
    """What the form contains. `hidden` has the values of hidden parameters, `stack` the stack that is to change, whose
    environment is extended by `environment`. `files` are the files by their names in the template.
    """

    name: str
    template: str
    environment: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict)
    rollback: bool = False
    stack: Answer | None = None
    files: dict[str, str] = field(default_factory=dict)

    def body(self, declared: Mapping[str, Any]) -> Answer:
        """Return the body of the request to the API, with the parameters that are declared and have a value.

        Empty fields leave the values of the environment.

        Raises ApiError for a JSON parameter that is not JSON.
        """
        elsewhere = given_names(self.environment)
        entered = {name: text for name, text in self.parameters.items() if text or name not in elsewhere}
        values = {**entered, **self.hidden}
        parameters = {name: _value(name, declared[name], text) for name, text in values.items() if name in declared}
        body: Answer = {
            "template": self.template,
            "parameters": {name: value for name, value in parameters.items() if value is not None},
            "disable_rollback": not self.rollback,
            "files": self.files,
            "environment": self.environment,
        }
        return {**body, "stack_name": self.name} if self.stack is None else body


def new(exchange: Exchange) -> None:
    """Show the form for a new stack. Raises ApiError if policy does not allow what it is for."""
    exchange.permissions.require(*CREATE)
    _form(exchange, Draft("", _EXAMPLE), *_examined(exchange, Draft("", _EXAMPLE)))


def change(exchange: Exchange) -> None:
    """Show the form for another template or other parameters of a stack; raises ApiError as `new` does."""
    exchange.permissions.require(*UPDATE)
    stack = present_stack(exchange)
    text = as_yaml(below(exchange, "/template"))
    current = {name: as_text(value) for name, value in stack["parameters"].items() if not name.startswith(_PSEUDO)}
    draft = Draft(stack["stack_name"], text, "", current, {}, not stack["disable_rollback"], stack)
    draft.files = below(exchange, "/files")
    declared, problems = _examined(exchange, draft)
    known = declared or {}
    draft.parameters = {name: text for name, text in current.items() if not _is_hidden(known.get(name, {}))}
    _form(exchange, draft, declared, problems)


def submit(exchange: Exchange) -> None:
    """Do what the button of the form says."""
    draft = _read(exchange)
    declared, problems = _examined(exchange, draft)
    known = declared or {}
    for name in [name for name in draft.parameters if _is_hidden(known.get(name, {}))]:
        if value := draft.parameters.pop(name):
            draft.hidden[name] = value
    step = exchange.form("do")
    if problems or step not in ("plan", "apply"):
        _form(exchange, draft, declared, problems, status=400 if problems and step != "check" else 200)
    elif step == "plan":
        _plan(exchange, draft, known)
    else:
        _apply(exchange, draft, known)


def _plan(exchange: Exchange, draft: Draft, declared: Answer) -> None:
    try:
        body = draft.body(declared)
        if draft.stack is None:
            plan = exchange.api.send("POST", "/stacks/preview", body)["stack"]["plan"]
        else:
            path = stack_path(draft.stack["stack_name"], draft.stack["id"], "/preview")
            plan = exchange.api.send("PATCH", path, body)["plan"]
    except ApiError as error:
        _refused(exchange, draft, declared, error)
        return
    exchange.show(
        "plan.html",
        draft=draft,
        declared=declared,
        prefix=_FIELD,
        file_prefix=FILE,
        sealed=_seal(exchange, draft),
        digest=plan["digest"] or "",
        summary=summary(plan),
        steps=shown_steps(plan),
        kept=kept_values(plan),
        costs=cost_lines(plan),
        policies=policy_sentences(plan),
        compared=comparison_lines(plan),
        whole=is_whole(plan),
    )


def _apply(exchange: Exchange, draft: Draft, declared: Answer) -> None:
    digest = exchange.form("digest")
    try:
        body = {**draft.body(declared), **({"plan_digest": digest} if digest else {})}
        if draft.stack is None:
            name, identifier = draft.name, exchange.api.send("POST", "/stacks", body)["stack"]["id"]
        else:
            name, identifier = draft.stack["stack_name"], draft.stack["id"]
            exchange.api.send("PATCH", stack_path(name, identifier), body)
    except ApiError as error:
        _refused(exchange, draft, declared, error)
        return
    exchange.redirect(f"/stacks/{segment(name)}/{segment(identifier)}")


def _refused(exchange: Exchange, draft: Draft, declared: Answer, error: ApiError) -> None:
    """Show the form with what the API complains about."""
    if error.status == 401:
        raise error
    problems = error.diagnostics or (Diagnostic("refused", error.message),)
    _form(exchange, draft, declared, problems, status=error.status)


def _form(
    exchange: Exchange, draft: Draft, declared: Answer | None, problems: tuple[Diagnostic, ...], status: int = 200
) -> None:
    exchange.show(
        "deploy.html",
        status,
        draft=draft,
        declared=declared or {},
        signature=signature(declared),
        problems=sorted(problems, key=Diagnostic.sort_key),
        prefix=_FIELD,
        file_prefix=FILE,
        sealed=_seal(exchange, draft),
        is_hidden=_is_hidden,
        given=given_names(draft.environment),
        largest=exchange.largest_body,
    )


def _examined(exchange: Exchange, draft: Draft) -> tuple[Answer | None, tuple[Diagnostic, ...]]:
    """Return the parameters that a template declares, None if they are unknown, and what is wrong with the template."""
    files = draft.files
    environments = {_ENVIRONMENT: draft.environment} if draft.environment.strip() else {}
    if draft.stack is not None:
        present = _without_parameters(below_stack(exchange, draft.stack, "/environment"))
        files = {**below_stack(exchange, draft.stack, "/files"), **files}
        environments = {"environment of the stack": json.dumps(present), **environments}
    body: Answer = {
        "template": draft.template,
        "files": {**files, **environments},
        "environment_files": list(environments),
    }
    try:
        return _grouped(exchange.api.send("POST", "/validate", body)), ()
    except ApiError as error:
        if error.status == 401:
            raise
        diagnostics = error.diagnostics or (Diagnostic("refused", error.message),)
        return _declared_alone(exchange, draft.template), tuple(
            _placed(item, draft, f"environment {len(environments)}") for item in diagnostics
        )


def _declared_alone(exchange: Exchange, template: str) -> Answer | None:
    """Return the parameters of a template with problems; None if they have problems, too."""
    try:
        return _grouped(exchange.api.send("POST", "/validate", {"template": declarations(template)}))
    except ApiError as error:
        if error.status == 401:
            raise
        return None


def _grouped(answer: Answer) -> Answer:
    """Return the declared parameters in the order of their groups, each with the `Group` that it belongs to."""
    declared: Answer = answer["Parameters"]
    grouped: Answer = {}
    for group in answer.get("ParameterGroups", ()):
        about = {"Group": group.get("label") or "", "GroupDescription": group.get("description") or ""}
        grouped |= {name: {**declared[name], **about} for name in group.get("parameters") or () if name in declared}
    rest = {"Group": "Other parameters" if grouped else "", "GroupDescription": ""}
    return {**grouped, **{name: {**item, **rest} for name, item in declared.items() if name not in grouped}}


def _placed(item: Diagnostic, draft: Draft, last: str) -> Diagnostic:
    """Return a diagnostic with a position in the draft, if it has only the path of a value.

    `last` is the name that the service gives to the last environment, which is that of the draft.
    """
    source = _ENVIRONMENT if item.source == last and draft.environment.strip() else item.source
    texts = {**draft.files, "template": draft.template, _ENVIRONMENT: draft.environment}
    position = item.position
    if position is None and item.path and source in texts:
        outline = Outline.of(texts[source])
        if (token := outline.key(item.path) or outline.value(item.path)) is not None:
            before = texts[source][: token.start]
            position = Position(before.count("\n") + 1, token.start - before.rfind("\n"))
    return replace(item, source=source, position=position)


def below_stack(exchange: Exchange, stack: Answer, tail: str) -> Answer:
    """Return what the API has below a stack."""
    answer: Answer = exchange.api.get(stack_path(stack["stack_name"], stack["id"], tail))
    return answer


def _without_parameters(environment: Answer) -> Answer:
    """Return an environment whose values, which may be redacted, are left out."""
    return {key: value for key, value in environment.items() if key == "resource_registry"}


def _read(exchange: Exchange) -> Draft:
    """Return the draft in the form. Raises ApiError if its stack is gone."""
    stack = present_stack(exchange) if "stack_id" in exchange.path else None
    sent = {
        name.removeprefix(_FIELD): values[-1].replace("\r\n", "\n")
        for name, values in exchange.fields().items()
        if name.startswith(_FIELD)
    }
    return Draft(
        name=stack["stack_name"] if stack else exchange.form("name").strip(),
        template=exchange.form("template").replace("\r\n", "\n"),
        environment=exchange.form("environment").replace("\r\n", "\n"),
        parameters=sent,
        hidden=_unseal(exchange),
        rollback=exchange.form("rollback") == "on",
        stack=stack,
        files=files_of(exchange.fields()),
    )


def _seal(exchange: Exchange, draft: Draft) -> str:
    assert exchange.session is not None
    return exchange.seals.seal(exchange.session, json.dumps(draft.hidden)) if draft.hidden else ""


def _unseal(exchange: Exchange) -> dict[str, str]:
    assert exchange.session is not None
    text = exchange.seals.unseal(exchange.session, exchange.form("sealed"), exchange.former)
    return dict(json.loads(text)) if text else {}


def _is_hidden(declaration: Mapping[str, object]) -> bool:
    return declaration.get("NoEcho") == "true"


def _value(name: str, declaration: Mapping[str, object], text: str) -> object:
    """Return the value of a parameter from its field; None for an empty field, which leaves the default."""
    if text == "" and ("Default" in declaration or declaration["Type"] != "String"):
        return None
    if declaration["Type"] != "Json":
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise ApiError(400, f"parameters.{name}: the value is not valid JSON: {error}.") from None
