"""Generate the pages about the REST API and the emulator's control API from their route tables.

The examples in `rest_examples.json` are recorded from the API on the emulated cloud; a test compares them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from openstack_emulator.core.control import ROUTES as CONTROL_ROUTES
from stoker.api.v1 import openapi
from stoker.api.v1.call import Action
from stoker.api.v1.routes import ROUTES
from stoker.api.values import Field
from stoker_reference.markdown import code, page, section, sentence, table

_EXAMPLES = Path(__file__).with_name("rest_examples.json")
_STACK = "/stacks/{stack_name}/{stack_id}"
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Stacks": (
        "/stacks",
        "/stacks/detail",
        "/stacks/preview",
        _STACK,
        f"{_STACK}/preview",
        f"{_STACK}/actions",
        "/exports",
    ),
    "What a stack has": (
        *(f"{_STACK}/{part}" for part in ("template", "environment", "files", "outputs", "export", "abandon")),
        f"{_STACK}/outputs/{{output_key}}",
    ),
    "Resources": (f"{_STACK}/resources", "/resources", "/generated_template", "/orphans"),
    "Moves between stacks": ("/refactors",),
    "Approvals of changes": ("/change_requests", "/change_control", f"{_STACK}/settings/change_control"),
    "Policies on plans": ("/plan_policies", f"{_STACK}/settings/plan_policies"),
    "Events and operations": (f"{_STACK}/events", f"{_STACK}/operations"),
    "Snapshots": (f"{_STACK}/snapshots",),
    "Software configurations": ("/software_configs",),
    "Software deployments": ("/software_deployments",),
    "Types and templates": ("/validate", "/template_versions", "/resource_types"),
    "The service": ("/build_info", "/permissions", "/services"),
}
"""The routes of each page: a route belongs to the group with the longest prefix of its path."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the pages about the REST API, its OpenAPI description, and a table for the page about the control API."""
    examples: Mapping[str, Any] = json.loads(_EXAMPLES.read_text(encoding="utf-8"))
    grouped = groups()
    yield "rest.md", _index(grouped)
    for title, routes in grouped.items():
        yield (
            f"rest/{_file_name(title)}.md",
            page(title, *(_route(route, action, examples[route]) for route, action in routes.items())),
        )
    yield "openapi.json", json.dumps(openapi.document("https://orchestration.example.com"), indent=1) + "\n"
    control = [(code(f"{method} /control{path}"),) for path, methods in CONTROL_ROUTES.items() for method in methods]
    yield "control.md", table(("Request",), control)


def groups() -> dict[str, dict[str, Action]]:
    """Return the actions by page and by `METHOD /path`, without redirects."""
    found: dict[str, dict[str, Action]] = {title: {} for title in GROUPS}
    prefixes = {prefix: title for title, listed in GROUPS.items() for prefix in listed}
    for path, methods in ROUTES.items():
        for method, action in methods.items():
            if action.success != 302:
                longest = max((prefix for prefix in prefixes if f"{path}/".startswith(f"{prefix}/")), key=len)
                found[prefixes[longest]][f"{method} {path}"] = action
    return found


def _file_name(title: str) -> str:
    return title.lower().replace(" ", "-")


def _index(grouped: Mapping[str, Mapping[str, Action]]) -> str:
    contents = "\n".join(f"rest/{_file_name(title)}" for title in grouped)
    return page(
        "REST API",
        "Stoker implements Heat's Orchestration API below `/v1/{project_id}`. Requests carry a token in "
        "`X-Auth-Token`. A shorter path that contains only the name of a stack (`/stacks/web/resources`) is answered "
        "with a redirect (302) to the full path.",
        "The requests and answers on these pages are recorded from the API on the emulated cloud. IDs and times are "
        "replaced, and lists are shortened to two items.",
        *(
            section(
                title,
                table(
                    ("Request", "What it does"),
                    [
                        (
                            f"[{code(route)}](/generated/rest/{_file_name(title)}.md#{anchor(route)})",
                            _summary(route, action),
                        )
                        for route, action in routes.items()
                    ],
                ),
            )
            for title, routes in grouped.items()
        ),
        "## OpenAPI\n\nThe API serves its description in OpenAPI 3.1 at `/openapi.json`, without a token; "
        "{download}`the description <openapi.json>` can also be downloaded here.",
        ERRORS,
        f"```{{toctree}}\n:hidden:\n\n{contents}\n```",
    )


ERRORS = """## Errors

An error response has a JSON body: `code`, `title`, `explanation` (the general meaning of the status) and `error` with
`type` (the kind of error, with the names that Heat's clients know), `message` and `traceback`, which is always null.
If the error is in a template, `error.diagnostics` lists all problems, each with `rule`, `message`, `path`, `source`,
`position` (`line` and `column`, from 1) and `hint`.
"""


def anchor(route: str) -> str:
    """Return the anchor of a request on its page: `get-stacks-stack_name` for `GET /stacks/{stack_name}`."""
    return "-".join(
        filter(None, "".join(char if char.isalnum() or char == "_" else " " for char in route).lower().split())
    )


def _summary(route: str, action: Action) -> str:
    described = inspect.getdoc(action.handler) or f"Return the stack's {route.rpartition('/')[2]}."
    return sentence(described.partition("\n")[0])


def _route(route: str, action: Action, example: Mapping[str, Any]) -> str:
    facts = [f"Status {action.success}", f"policy rule {_rule(action)}"]
    parts = [
        f"({anchor(route)})=\n## {code(route)}",
        _summary(route, action),
        f"{{.facts}}\n{' · '.join(facts)}",
    ]
    if action.query.fields:
        parts.append("Parameters in the URL:\n\n" + _fields(action.query.fields))
    if action.query.filters:
        parts.append("Filters in the URL, each of which can be repeated: " + ", ".join(map(code, action.query.filters)))
    if action.body is not None and action.body.fields:
        parts.append("Fields of the body:\n\n" + _fields(action.body.fields))
    parts.append(_example(example))
    return "\n\n".join(parts)


def _fields(fields: Mapping[str, Field]) -> str:
    return "\n".join(f"- {code(name)}: {', '.join(_facts(spec))}" for name, spec in fields.items())


def _facts(spec: Field) -> Iterator[str]:
    yield _type_of(spec)
    if spec.required:
        yield "**required**"
    if spec.repeatable:
        yield "repeatable"
    if spec.default not in (None, "", False):
        yield f"default {code(spec.default)}"


def _type_of(spec: Field) -> str:
    schema = spec.kind.schema
    if "enum" in schema:
        return "one of " + ", ".join(code(value) for value in schema["enum"] if value is not None)
    kinds = [str(each["type"]) for each in schema.get("anyOf", [schema])]
    if "string" in kinds and set(kinds) & {"boolean", "integer"}:
        kinds.remove("string")  # only another form of the same
    if kinds == ["array"]:
        return f"array of {schema['items']['type']}s"
    about = str(schema.get("description", "")).rstrip(".")
    return f"{' or '.join(kinds)}{f' ({about[0].lower()}{about[1:]})' if about else ''}"


def _example(example: Mapping[str, Any]) -> str:
    request = str(example["request"])
    if example["body"] is not None:
        request += "\n\n" + json.dumps(example["body"], indent=2, ensure_ascii=False)
    answer = f"{example['status']}"
    if example["answer"] is not None:
        answer += "\n\n" + json.dumps(example["answer"], indent=2, ensure_ascii=False)
    return f"Request:\n\n```text\n{request}\n```\n\nAnswer:\n\n```text\n{answer}\n```"


def _rule(action: Action) -> str:
    return code(action.policy) if isinstance(action.policy, str) else "that depends on the body"
