"""Deploy templates: steps that a node with their trait takes when it is deployed. The emulator only keeps them."""

from __future__ import annotations

import re

from stoker.emulator.baremetal.http import (
    ADMINISTRATORS,
    OBSERVERS,
    TIMESTAMP,
    listed,
    new_key,
    not_a_trait,
    offered,
    require,
    single,
)
from stoker.emulator.baremetal.kinds import DEPLOY_TEMPLATE
from stoker.emulator.baremetal.patching import patched
from stoker.emulator.core.cloud import Records
from stoker.emulator.core.component import Component, using
from stoker.emulator.core.errors import ApiError, bad_request, conflict, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Record

SINCE = (1, 55)
_TRAIT = re.compile(r"CUSTOM_[A-Z0-9_]{1,248}\Z")


class Templates(Component):
    """All deploy templates."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection("deploy_templates", ("name",), _missing)

    def find(self, request: Request) -> Record:
        """The template that the path names, by UUID or name. Raises ApiError 404."""
        offered(request, SINCE)
        key = request.vars["template"]
        found = self.rows.get(key) or self.rows.first(name=key)
        if found is None:
            raise _missing(key)
        return found

    def check(self, wanted: Record) -> None:
        """Refuse a template with a name that is no trait (400), or that another one has (409)."""
        if _TRAIT.match(wanted["name"]) is None:
            raise bad_request(not_a_trait("template", wanted["name"]))
        seen = [(step["interface"], step["step"]) for step in wanted["steps"]]
        if len(set(seen)) < len(seen):
            raise bad_request("Duplicate deploy steps: an interface and a step may be named once.")
        other = self.rows.first(name=wanted["name"])
        if other is not None and other["uuid"] != wanted["uuid"]:
            raise conflict(f"A deploy template with name {wanted['name']} already exists.")

    def now(self) -> str:
        return self.records.timestamp(TIMESTAMP)


def _missing(key: str) -> ApiError:
    return not_found(f"Deploy template {key} could not be found.")


def create(templates: Templates, request: Request) -> Response:
    offered(request, SINCE)
    require(request, "baremetal:deploy_template:create", *ADMINISTRATORS)
    values, key = DEPLOY_TEMPLATE.values(request), new_key(request, templates.rows)
    made = {**values, "uuid": key, "id": key, "created_at": templates.now(), "updated_at": None}
    templates.check(made)
    return single(request, DEPLOY_TEMPLATE, templates.rows.add(made), 201)


def index(templates: Templates, request: Request) -> Response:
    offered(request, SINCE)
    require(request, "baremetal:deploy_template:get", *OBSERVERS)
    return listed(request, DEPLOY_TEMPLATE, templates.rows)


def show(templates: Templates, request: Request) -> Response:
    row = templates.find(request)
    require(request, "baremetal:deploy_template:get", *OBSERVERS)
    return single(request, DEPLOY_TEMPLATE, row)


def update(templates: Templates, request: Request) -> Response:
    row = templates.find(request)
    require(request, "baremetal:deploy_template:update", *ADMINISTRATORS)
    changes = patched(request, DEPLOY_TEMPLATE, row)
    templates.check({**row, **changes})
    templates.rows.update(row, **changes, updated_at=templates.now())
    return single(request, DEPLOY_TEMPLATE, row)


def delete(templates: Templates, request: Request) -> Response:
    row = templates.find(request)
    require(request, "baremetal:deploy_template:delete", *ADMINISTRATORS)
    templates.rows.remove(row)
    return Response(status=204)


TEMPLATE_ROUTES = using(
    Templates,
    {
        "/deploy_templates": {"GET": index, "POST": create},
        "/deploy_templates/{template}": {"GET": show, "PATCH": update, "DELETE": delete},
    },
)
