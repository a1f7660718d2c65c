"""Flavors over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from openstack_emulator.compute.records import Flavor
from openstack_emulator.compute.routes.queries import check_sorting, order_by, unknown_marker
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.flavors import NewFlavor
from openstack_emulator.compute.views import flavor_detail, summary
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page, ranked
from openstack_emulator.core.specs import Specs
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.identity.rules.composition import Identity

LARGEST = 2**31 - 1
FLAVOR = {
    "id": fields.nullable(fields.either(fields.integer(0), fields.text(1, 255, r"(?! )[a-zA-Z0-9. _-]*(?<! )"))),
    "name": fields.name(),
    "ram": fields.integer(1, LARGEST),
    "vcpus": fields.integer(1, LARGEST),
    "disk": fields.integer(0, LARGEST),
    "OS-FLV-EXT-DATA:ephemeral": fields.integer(0, LARGEST),
    "swap": fields.integer(0, LARGEST),
    "rxtx_factor": fields.number(0),
    "os-flavor-access:is_public": fields.boolean,
}
DESCRIPTION = fields.nullable(fields.text(0, 65535))
EXTRA_SPECS = Specs("extra_specs", "Flavor", "extra specs", fields.text_map(key_form=r"[a-zA-Z0-9\-_:. ]{1,255}"))
FORMATS = {"hw:mem_page_size": r"(large|small|any|\d+([kKMGT]i?)?(b|bit|B)?)"}
"""The forms of extra specs, which are checked since microversion 2.86."""


def check_formats(request: Request, specs: Mapping[str, object]) -> None:
    """400 for an extra spec whose value does not have its form."""
    for key, form in FORMATS.items() if request.version >= (2, 86) else ():
        if key in specs and re.fullmatch(form, str(specs[key])) is None:
            raise bad_request(f"Validation failed; {specs[key]!r} is not of the format '{form}'.")


def _flavor(compute: ComputeService, request: Request) -> Flavor:
    return compute.flavors.find(request.context, request.vars["flavor_id"])


SORTABLE = [
    "created_at",
    "description",
    "disabled",
    "ephemeral_gb",
    "flavorid",
    "id",
    "is_public",
    "memory_mb",
    "name",
    "root_gb",
    "rxtx_factor",
    "swap",
    "updated_at",
    "vcpu_weight",
    "vcpus",
]
"""The fields that lists of flavors are sorted by, in the order in which an error names them."""
COLUMNS = {"flavorid": "id", "memory_mb": "ram", "root_gb": "disk"}
"""Names of these fields in the records, where they are others."""
FILTERS: Mapping[str, Callable[[Flavor], int]] = {"minDisk": lambda row: row.disk, "minRam": lambda row: row.ram}


def _flavors(compute: ComputeService, request: Request, view: Callable[[Flavor], dict[str, object]]) -> Response:
    query = request.query
    rows = compute.flavors.usable(request.context)
    public = query.get("is_public")
    if not request.context.is_admin or public is None:
        own = request.context.project_id
        rows = [row for row in rows if row.is_public or (public is None and own in row.projects)]
    elif public.lower() != "none":
        rows = [row for row in rows if row.is_public == as_boolean(public)]
    for name, size_of in FILTERS.items():
        if (least := query.get(name)) is not None:
            if not least.isdecimal():
                raise bad_request(f"Invalid {name} filter [{least}]")
            rows = [row for row in rows if size_of(row) >= int(least)]
    check_sorting(request, SORTABLE)
    shown = page(ranked(rows, order_by(query, COLUMNS) or (("id", False),)), query, missing=unknown_marker)
    return Response(shown.body(request, "flavors", view))


def list_flavors(compute: ComputeService, request: Request) -> Response:
    described = request.version >= (2, 55)
    return _flavors(
        compute,
        request,
        lambda row: {
            **summary(request, "flavors", row),
            **({"description": row.description} if described else {}),
        },
    )


def list_flavors_detail(compute: ComputeService, request: Request) -> Response:
    return _flavors(compute, request, lambda row: flavor_detail(request, row))


def show_flavor(compute: ComputeService, request: Request) -> Response:
    return Response({"flavor": flavor_detail(request, _flavor(compute, request))})


def create_flavor(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    body = request.object("flavor")
    checks = {**FLAVOR, **({"description": DESCRIPTION} if request.version >= (2, 55) else {})}
    check_fields(body, checks, ("name", "ram", "vcpus", "disk"), "flavor")
    key = body.get("id")
    public = as_boolean(body.get("os-flavor-access:is_public", True))
    ram, vcpus, disk = (int(body[name]) for name in ("ram", "vcpus", "disk"))
    flavor = compute.flavors.create(
        NewFlavor(
            id=None if key in (None, "auto") else str(key).strip(),
            name=body["name"].strip(),
            ram=ram,
            vcpus=vcpus,
            disk=disk,
            ephemeral=int(body.get("OS-FLV-EXT-DATA:ephemeral", 0)),
            swap=int(body.get("swap", 0)),
            rxtx_factor=float(body.get("rxtx_factor", 1.0)),
            is_public=bool(public),
            description=body.get("description"),
        )
    )
    return Response({"flavor": flavor_detail(request, flavor)})


def update_flavor(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    if request.version < (2, 55):
        raise not_found("The resource could not be found.")
    flavor, body = _flavor(compute, request), request.object("flavor")
    check_fields(body, {"description": DESCRIPTION}, ("description",), "flavor")
    compute.flavors.rows.update(flavor, description=body.get("description"))
    return Response({"flavor": flavor_detail(request, flavor)})


def delete_flavor(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    compute.flavors.rows.remove(_flavor(compute, request))
    return Response(status=202)


def list_specs(compute: ComputeService, request: Request) -> Response:
    return Response({"extra_specs": _flavor(compute, request).extra_specs})


def add_specs(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    flavor, body = _flavor(compute, request), request.object("extra_specs")
    texts = {key: str(value) if isinstance(value, int | float) else value for key, value in body.items()}
    check_formats(request, texts)
    EXTRA_SPECS.add(compute.flavors.rows, flavor, texts)
    return Response({"extra_specs": texts})


def show_spec(compute: ComputeService, request: Request) -> Response:
    return EXTRA_SPECS.show(_flavor(compute, request), request)


def update_spec(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    if isinstance(request.json, dict):
        check_formats(request, request.json)
    return EXTRA_SPECS.change(compute.flavors.rows, _flavor(compute, request), request)


def delete_spec(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    EXTRA_SPECS.remove(compute.flavors.rows, _flavor(compute, request), request)
    return Response(status=200)


def _access(flavor: Flavor) -> Response:
    return Response({"flavor_access": [{"flavor_id": flavor.id, "tenant_id": project} for project in flavor.projects]})


def list_access(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    flavor = _flavor(compute, request)
    if flavor.is_public:
        raise not_found("Access list not available for public flavors.")
    return _access(flavor)


def flavor_action(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    flavor, body = _flavor(compute, request), request.json
    changes = {"addTenantAccess": compute.flavors.add_access, "removeTenantAccess": compute.flavors.remove_access}
    name = next((key for key in changes if isinstance(body, dict) and key in body), None)
    if name is None:
        raise bad_request(f"The action must be one of {', '.join(changes)}.")
    check_fields(body[name], {"tenant": fields.text(1)}, ("tenant",), name)
    project = body[name]["tenant"]
    if compute.cloud.of(Identity).projects.rows.get(project) is None:
        raise bad_request(f"Project ID {project} is not a valid project.")
    changes[name](flavor, project)
    return _access(flavor)
