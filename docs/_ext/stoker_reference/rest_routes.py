"""Generate the pages about the REST API and the emulator's control API from their route tables."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stoker.api.v1 import openapi
from stoker.api.v1.call import Action
from stoker.api.v1.routes import ROUTES
from stoker.api.values import Field
from stoker.emulator.core.control import ROUTES as CONTROL_ROUTES
from stoker_reference.markdown import code, page, table


def pages() -> Iterator[tuple[str, str]]:
    """Yield the REST API page, its OpenAPI description, and a table for the page about the control API."""
    rows = [
        (code(f"{method} {path}"), _rule(action), _carries(action), str(action.success))
        for path, methods in ROUTES.items()
        for method, action in methods.items()
        if action.success != 302
    ]
    yield (
        "rest.md",
        page(
            "REST API",
            "Stoker implements Heat's Orchestration API below `/v1/{project_id}`. Requests carry a token in "
            "`X-Auth-Token`. A shorter path that contains only the name of a stack (`/stacks/web/resources`) is answered with "
            "a redirect (302) to the full path.",
            "Parameters in **bold** are required. `policy.yaml` decides which roles pass a policy rule; the "
            "defaults are Heat's.",
            table(("Request", "Policy rule", "Parameters", "Status"), rows),
            "The API serves its description in OpenAPI 3.1 at `/openapi.json`, without a token; "
            "{download}`the description <openapi.json>` can also be downloaded here.",
            ERRORS,
        ),
    )
    yield "openapi.json", json.dumps(openapi.document("https://orchestration.example.com"), indent=1) + "\n"
    control = [(code(f"{method} /control{path}"),) for path, methods in CONTROL_ROUTES.items() for method in methods]
    yield "control.md", table(("Request",), control)


ERRORS = """## Errors

An error response has a JSON body: `code`, `title`, `explanation` (the general meaning of the status) and `error` with
`type` (the kind of error, with the names that Heat's clients know), `message` and `traceback`, which is always null.
If the error is in a template, `error.diagnostics` lists all problems, each with `rule`, `message`, `path`, `source`,
`position` (`line` and `column`, from 1) and `hint`.
"""


def _rule(action: Action) -> str:
    return code(action.policy) if isinstance(action.policy, str) else "depends on the body"


def _carries(action: Action) -> str:
    parts = []
    query = [_name(name, spec) for name, spec in action.query.fields.items()]
    query += [_name(name) for name in action.query.filters]
    if query:
        parts.append(f"query: {', '.join(query)}")
    if action.body is not None and action.body.fields:
        parts.append(f"body: {', '.join(_name(name, spec) for name, spec in action.body.fields.items())}")
    return "; ".join(parts)


def _name(name: str, spec: Field | None = None) -> str:
    return f"**{code(name)}**" if spec is not None and spec.required else code(name)
