"""Deploy templates over HTTP."""

from __future__ import annotations

from openstack_emulator.baremetal.records import DeployTemplate
from openstack_emulator.baremetal.routes.patches import patched
from openstack_emulator.baremetal.routes.requests import list_response, new_key, single
from openstack_emulator.baremetal.rules.access import require_collection_version, require_system
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.kinds import DEPLOY_TEMPLATE
from openstack_emulator.core.http import Request, Response

SINCE = (1, 55)


def _found(service: BareMetal, request: Request) -> DeployTemplate:
    require_collection_version(request, SINCE)
    return service.templates.find(request.vars["template"])


def create(service: BareMetal, request: Request) -> Response:
    require_collection_version(request, SINCE)
    values = DEPLOY_TEMPLATE.values(request.version, request.json)
    require_system(request, "baremetal:deploy_template:create", "admin")
    template = service.templates.create(new_key(request, service.templates.rows), values)
    return single(request, DEPLOY_TEMPLATE, template, 201)


def index(service: BareMetal, request: Request) -> Response:
    require_collection_version(request, SINCE)
    require_system(request, "baremetal:deploy_template:get", "reader")
    return list_response(request, DEPLOY_TEMPLATE, service.templates.rows)


def show(service: BareMetal, request: Request) -> Response:
    require_system(request, "baremetal:deploy_template:get", "reader")
    return single(request, DEPLOY_TEMPLATE, _found(service, request))


def update(service: BareMetal, request: Request) -> Response:
    require_system(request, "baremetal:deploy_template:update", "admin")
    row = _found(service, request)
    service.templates.change(row, patched(request, DEPLOY_TEMPLATE, row))
    return single(request, DEPLOY_TEMPLATE, row)


def delete(service: BareMetal, request: Request) -> Response:
    require_system(request, "baremetal:deploy_template:delete", "admin")
    service.templates.rows.remove(_found(service, request))
    return Response(status=204)
