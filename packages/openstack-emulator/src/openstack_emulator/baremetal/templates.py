"""Deploy templates: steps that a node with their trait takes when it is deployed. The emulator only keeps them."""

from __future__ import annotations

from openstack_emulator.baremetal.http import (
    TIMESTAMP,
    listed,
    new_key,
    offered,
    require_system,
    single,
)
from openstack_emulator.baremetal.kinds import DEPLOY_TEMPLATE
from openstack_emulator.baremetal.patching import patched
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record

SINCE = (1, 55)


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
        """Refuse a template with a step twice (400), or with the name of another one (409)."""
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
    values = DEPLOY_TEMPLATE.values(request)
    require_system(request, "baremetal:deploy_template:create", "admin")
    key = new_key(request, templates.rows)
    made = {**values, "uuid": key, "id": key, "created_at": templates.now(), "updated_at": None}
    templates.check(made)
    return single(request, DEPLOY_TEMPLATE, templates.rows.add(made), 201)


def index(templates: Templates, request: Request) -> Response:
    offered(request, SINCE)
    require_system(request, "baremetal:deploy_template:get", "reader")
    return listed(request, DEPLOY_TEMPLATE, templates.rows)


def show(templates: Templates, request: Request) -> Response:
    require_system(request, "baremetal:deploy_template:get", "reader")
    row = templates.find(request)
    return single(request, DEPLOY_TEMPLATE, row)


def update(templates: Templates, request: Request) -> Response:
    require_system(request, "baremetal:deploy_template:update", "admin")
    row = templates.find(request)
    changes = patched(request, DEPLOY_TEMPLATE, row)
    templates.check({**row, **changes})
    templates.rows.update(row, **changes, updated_at=templates.now())
    return single(request, DEPLOY_TEMPLATE, row)


def delete(templates: Templates, request: Request) -> Response:
    require_system(request, "baremetal:deploy_template:delete", "admin")
    row = templates.find(request)
    templates.rows.remove(row)
    return Response(status=204)


TEMPLATE_ROUTES = using(
    Templates,
    {
        "/deploy_templates": {"GET": index, "POST": create},
        "/deploy_templates/{template}": {"GET": show, "PATCH": update, "DELETE": delete},
    },
)
