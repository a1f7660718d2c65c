"""The body of requests to create, update, preview or validate a stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from stoker.api.faults import BadRequest
from stoker.api.requests import Body, parse_json
from stoker.api.templates_by_url import template_at
from stoker.api.v1.call import RestCall
from stoker.api.values import (
    BOOLEAN,
    MAP,
    MAP_OR_STRING,
    STRING,
    STRINGS,
    Choice,
    CommaList,
    Field,
    Integer,
    MapOf,
    Structure,
)
from stoker.contract.catalog import GetContainerFiles
from stoker.contract.stacks import NewStack, PatchRequest, Refresh, UpdateRequest, ValidateTemplate

MOST_MINUTES = 2**31 - 1
"""The largest timeout that every supported database can store."""

MAX_TAG_LENGTH = 80


INPUTS: dict[str, Field] = {
    "environment": Field(MAP_OR_STRING),
    "environment_files": Field(STRINGS),
    "files": Field(MapOf(STRING)),
    "parameters": Field(MAP),
}
"""What belongs to a template."""

_DEFINITION: dict[str, Field] = {
    "template": Field(MAP_OR_STRING),
    "template_url": Field(STRING),
    "files_container": Field(STRING),
    **INPUTS,
}

_STACK: dict[str, Field] = {
    **_DEFINITION,
    "tags": Field(CommaList(longest=MAX_TAG_LENGTH)),
    "timeout_mins": Field(Integer(most=MOST_MINUTES)),
    "plan_digest": Field(STRING),
    "preflight": Field(BOOLEAN),
}

CREATE = Body(
    {
        **_STACK,
        "stack_name": Field(STRING, required=True),
        "disable_rollback": Field(BOOLEAN, default=True),
        "adopt_stack_data": Field(STRING),
        "converge": Field(BOOLEAN),
    }
)

_UPDATE = {
    **_STACK,
    "disable_rollback": Field(BOOLEAN),
    "converge": Field(BOOLEAN),
    "refresh": Field(Choice(*Refresh)),
    "supersede": Field(BOOLEAN, default=True),
}

UPDATE = Body({**_UPDATE, "existing_parameters": Field(BOOLEAN, default=False)})

PATCH = Body({**_UPDATE, "clear_parameters": Field(STRINGS, default=[]), "as_of": Field(STRING)})

_PREVIEW = {
    "plan_policies": Field(MapOf(STRING)),
    "joint_deployment": Field(
        Structure(dict.fromkeys(("parameters", "exports", "released", "earlier"), Field(STRINGS, default=[])))
    ),
}

PREVIEW = Body({**CREATE.fields, **_PREVIEW})

PREVIEW_UPDATE = Body({**UPDATE.fields, **_PREVIEW})

VALIDATE = Body(_DEFINITION)

_CHANGES = frozenset(PATCH.fields) - {"converge", "refresh", "preflight", "supersede"}


def patch_rule(sent: Mapping[str, object] | None) -> str:
    """Return the policy rule of a PATCH: a different one if it does not change the definition."""
    changed = any((sent or {}).get(name) not in (None, "", [], {}) for name in _CHANGES)
    return "stacks:update_patch" if changed else "stacks:update_no_change"


Create = TypeVar("Create", bound=NewStack)
Update = TypeVar("Update", bound=UpdateRequest[Any])
Patch = TypeVar("Patch", bound=PatchRequest[Any])


def _inputs(call: RestCall) -> dict[str, Any]:
    """Return the fields of `StackInputs` besides the template."""
    body = call.body
    return {
        "environment": _environment(call),
        "environment_files": body["environment_files"] or [],
        "files": _files(call),
        "parameters": body["parameters"] or {},
        **{name: body[name] for name in ("tags", "disable_rollback", "timeout_mins", "plan_digest", "preflight")},
    }


def _change(call: RestCall) -> dict[str, Any]:
    """Return the fields that `StackChange` adds to `StackInputs`."""
    return {name: call.body[name] for name in ("converge", "refresh", "supersede")}


def create_request(kind: type[Create], call: RestCall) -> Create:
    """Return the request to create a stack, or to preview that."""
    body = call.body
    if body["converge"] is not None:
        raise BadRequest("converge belongs to updates; a new stack has nothing to converge.")
    adopted = _adopted(body["adopt_stack_data"])
    template = _template(call)
    if template is None and adopted is not None:
        template = adopted.get("template")
    return kind(
        name=body["stack_name"],
        template=_required(template),
        **_inputs(call),
        adopt_stack_data=adopted,
    )


def update_request(kind: type[Update], call: RestCall) -> Update:
    """Return the request to update the stack that the URL names, or to preview that."""
    return kind(
        ref=call.ref,
        template=_required(_template(call)),
        **_inputs(call),
        **_change(call),
        existing_parameters=call.body["existing_parameters"],
    )


def patch_request(kind: type[Patch], call: RestCall) -> Patch:
    """Return the request to change what the body names, or to preview that; the other parts stay as they are."""
    body = call.body
    return kind(
        ref=call.ref,
        template=_template(call),
        **_inputs(call),
        **_change(call),
        clear_parameters=body["clear_parameters"],
        as_of=body["as_of"],
    )


def validate_request(call: RestCall) -> ValidateTemplate:
    """Return the request to validate a template."""
    return ValidateTemplate(
        template=_required(_template(call)),
        environment=_environment(call),
        environment_files=call.body["environment_files"] or [],
        files=_files(call),
        parameters=call.body["parameters"] or {},
        show_nested=call.query["show_nested"],
        ignore_errors=call.query["ignore_errors"],
    )


def _environment(call: RestCall) -> Mapping[str, object] | str:
    """Return the environment of the body, unless named files replace it."""
    environment: Mapping[str, object] | str = {} if call.body["environment_files"] else call.body["environment"] or {}
    return environment


def _files(call: RestCall) -> dict[str, str]:
    return {**_container_files(call), **(call.body["files"] or {})}


def _container_files(call: RestCall) -> dict[str, str]:
    """Return the files in the object store's container; files in the body replace them."""
    container = call.body["files_container"]
    if container is None:
        return {}
    limit = call.config.max_json_body_size
    return call.execute(GetContainerFiles(container=container, limit=limit))


def _template(call: RestCall) -> dict[str, Any] | str | None:
    template: dict[str, object] | str | None = call.body["template"]
    url = call.body["template_url"]
    if template is not None or url is None:
        return template
    return template_at(url, call.config, call.context)


def _required(template: object) -> Any:
    if template is None:
        raise BadRequest("The body must have the key template, or template_url.")
    return template


def _adopted(data: str | None) -> dict[str, Any] | None:
    if data is None:
        return None
    return MAP.read("adopt_stack_data", parse_json(data.encode(), "adopt_stack_data"))
