"""The body of requests to create, update, preview or validate a stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.bodies import parse_json
from stoker.api.faults import BadRequest
from stoker.api.schema import Body
from stoker.api.templates_by_url import template_at
from stoker.api.v1.call import Call
from stoker.api.values import BOOLEAN, MAP, MAP_OR_STRING, STRING, STRINGS, CommaList, Field, Integer, MapOf

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


def create_arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of stack_create and stack_preview."""
    if call.body["converge"] is not None:
        raise BadRequest("converge is for updates only; a new stack has no state to compare.")
    adopted = _adopted(call.body["adopt_stack_data"])
    template = _template(call)
    if template is None and adopted is not None:
        template = adopted.get("template")
    return {
        "name": call.body["stack_name"],
        **_definition(call, _required(template)),
        **_settings(call),
        "adopt_stack_data": adopted,
    }


def update_arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of stack_update and its preview, without the stack."""
    template = _required(_template(call))
    return {**_definition(call, template), **_settings(call), "converge": call.body["converge"]}


def patch_arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of stack_patch and its preview, without the stack; missing fields do not change."""
    return {
        **_definition(call, _template(call)),
        **_settings(call),
        "converge": call.body["converge"],
        "clear_parameters": call.body["clear_parameters"],
    }


def validate_arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of validate_template."""
    return _definition(call, _required(_template(call)))


def _settings(call: Call) -> dict[str, Any]:
    return {name: call.body[name] for name in ("tags", "disable_rollback", "timeout_mins", "plan_digest")}


def _definition(call: Call, template: Any) -> dict[str, Any]:
    environment_files = call.body["environment_files"] or []
    return {
        "template": template,
        "environment": {} if environment_files else call.body["environment"] or {},
        "environment_files": environment_files,
        "files": {**_container_files(call), **(call.body["files"] or {})},
        "parameters": call.body["parameters"] or {},
    }


def _container_files(call: Call) -> dict[str, str]:
    """Return the files in the object store's container; files in the body replace them."""
    container = call.body["files_container"]
    if container is None:
        return {}
    limit = call.config.max_json_body_size
    found: dict[str, str] = call.ask("container_files", container=container, limit=limit)
    return found


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
