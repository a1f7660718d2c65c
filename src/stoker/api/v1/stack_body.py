"""The body of requests to create, update, preview or validate a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from stoker.api.bodies import parse_json
from stoker.api.faults import BadRequest
from stoker.api.schema import Body
from stoker.api.templates_by_url import template_at
from stoker.api.v1.call import Call
from stoker.api.values import BOOLEAN, MAP, MAP_OR_STRING, STRING, STRINGS, CommaList, Field, Integer, MapOf
from stoker.contract.catalog import GetContainerFiles
from stoker.contract.stacks import NewStack, PatchRequest, UpdateRequest, ValidateTemplate

MOST_MINUTES = 2**31 - 1
"""The largest timeout that every supported database can store."""

MAX_TAG_LENGTH = 80


_DEFINITION: dict[str, Field] = {
    "template": Field(MAP_OR_STRING),
    "template_url": Field(STRING),
    "environment": Field(MAP_OR_STRING),
    "environment_files": Field(STRINGS),
    "files": Field(MapOf(STRING)),
    "files_container": Field(STRING),
    "parameters": Field(MAP),
}

_STACK: dict[str, Field] = {
    **_DEFINITION,
    "tags": Field(CommaList(longest=MAX_TAG_LENGTH)),
    "timeout_mins": Field(Integer(most=MOST_MINUTES)),
    "plan_digest": Field(STRING),
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

UPDATE = Body({**_STACK, "disable_rollback": Field(BOOLEAN), "converge": Field(BOOLEAN)})

PATCH = Body({**UPDATE.fields, "clear_parameters": Field(STRINGS, default=[])})

VALIDATE = Body(_DEFINITION)

_CHANGES = frozenset(PATCH.fields) - {"converge"}


def patch_rule(sent: Mapping[str, Any] | None) -> str:
    """Return the policy rule of a PATCH: a different one if it does not change the definition."""
    changed = any((sent or {}).get(name) not in (None, "", [], {}) for name in _CHANGES)
    return "stacks:update_patch" if changed else "stacks:update_no_change"


class _Definition(TypedDict):
    environment: Mapping[str, Any] | str
    environment_files: Sequence[str]
    files: Mapping[str, str]
    parameters: Mapping[str, Any]


class _Stack(_Definition):
    tags: Sequence[str] | None
    disable_rollback: bool | None
    timeout_mins: int | None
    plan_digest: str | None


Create = TypeVar("Create", bound=NewStack)
Update = TypeVar("Update", bound=UpdateRequest[Any])
Patch = TypeVar("Patch", bound=PatchRequest[Any])


def create_request(kind: type[Create], call: Call) -> Create:
    """Return the request to create a stack, or to preview that."""
    body = call.body
    if body["converge"] is not None:
        raise BadRequest("converge belongs to updates; a new stack has nothing to converge.")
    adopted = _adopted(body["adopt_stack_data"])
    template = _template(call)
    if template is None and adopted is not None:
        template = adopted.get("template")
    return kind(name=body["stack_name"], template=_required(template), adopt_stack_data=adopted, **_stack(call))


def update_request(kind: type[Update], call: Call) -> Update:
    """Return the request to update the stack that the URL names, or to preview that."""
    return kind(ref=call.ref, template=_required(_template(call)), converge=call.body["converge"], **_stack(call))


def patch_request(kind: type[Patch], call: Call) -> Patch:
    """Return the request to change what the body names, or to preview that; the other parts stay as they are."""
    return kind(
        ref=call.ref,
        template=_template(call),
        converge=call.body["converge"],
        clear_parameters=call.body["clear_parameters"],
        **_stack(call),
    )


def validate_request(call: Call) -> ValidateTemplate:
    """Return the request to validate a template."""
    return ValidateTemplate(
        template=_required(_template(call)),
        **_definition(call),
        show_nested=call.query["show_nested"],
        ignore_errors=call.query["ignore_errors"],
    )


def _definition(call: Call) -> _Definition:
    """Return what a template is evaluated with."""
    return {
        "environment": _environment(call),
        "environment_files": call.body["environment_files"] or [],
        "files": _files(call),
        "parameters": call.body["parameters"] or {},
    }


def _stack(call: Call) -> _Stack:
    """Return what requests to create and to change stacks have in common, apart from the template."""
    return {
        **_definition(call),
        "tags": call.body["tags"],
        "disable_rollback": call.body["disable_rollback"],
        "timeout_mins": call.body["timeout_mins"],
        "plan_digest": call.body["plan_digest"],
    }


def _environment(call: Call) -> Mapping[str, Any] | str:
    """Return the environment of the body, unless named files replace it."""
    environment: Mapping[str, Any] | str = {} if call.body["environment_files"] else call.body["environment"] or {}
    return environment


def _files(call: Call) -> dict[str, str]:
    return {**_container_files(call), **(call.body["files"] or {})}


def _container_files(call: Call) -> dict[str, str]:
    """Return the files in the object store's container; files in the body replace them."""
    container = call.body["files_container"]
    if container is None:
        return {}
    limit = call.config.max_json_body_size
    return call.ask(GetContainerFiles(container=container, limit=limit))


def _template(call: Call) -> dict[str, Any] | str | None:
    template: dict[str, Any] | str | None = call.body["template"]
    url = call.body["template_url"]
    if template is not None or url is None:
        return template
    return template_at(url, call.config, call.context)


def _required(template: Any) -> Any:
    if template is None:
        raise BadRequest("The body must have the key template, or template_url.")
    return template


def _adopted(data: str | None) -> dict[str, Any] | None:
    if data is None:
        return None
    return MAP.read("adopt_stack_data", parse_json(data.encode(), "adopt_stack_data"))
