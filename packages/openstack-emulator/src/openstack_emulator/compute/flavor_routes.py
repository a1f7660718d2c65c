"""Flavors, keypairs and server groups over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.compute.flavors import Flavors
from openstack_emulator.compute.keypairs import Keypairs
from openstack_emulator.compute.queries import check_sorting, unknown_marker
from openstack_emulator.compute.server_groups import POLICIES, ServerGroups
from openstack_emulator.compute.views import brief, flavor_detail, group_detail, keypair_detail, keypair_summary
from openstack_emulator.core import fields
from openstack_emulator.core.component import visible
from openstack_emulator.core.errors import ApiError, bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.specs import Specs
from openstack_emulator.core.store import Record
from openstack_emulator.identity.records import IdentityRecords

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


def check_formats(request: Request, specs: Mapping[str, Any]) -> None:
    """400 for an extra spec whose value does not have its form."""
    for key, form in FORMATS.items() if request.version >= (2, 86) else ():
        if key in specs and re.fullmatch(form, str(specs[key])) is None:
            raise bad_request(f"Validation failed; {specs[key]!r} is not of the format '{form}'.")


def _flavor(flavors: Flavors, request: Request) -> Record:
    return flavors.find(request.context, request.vars["flavor_id"])


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


def _flavors(flavors: Flavors, request: Request, view: Callable[[Record], dict[str, Any]]) -> Response:
    query = request.query
    rows = flavors.usable(request.context)
    public = query.get("is_public")
    if not request.context.is_admin or public is None:
        own = request.context.project_id
        rows = [row for row in rows if row["is_public"] or (public is None and own in row["_projects"])]
    elif public.lower() != "none":
        rows = [row for row in rows if row["is_public"] == fields.as_boolean(public)]
    for name, field in (("minDisk", "disk"), ("minRam", "ram")):
        if (least := query.get(name)) is not None:
            if not least.isdecimal():
                raise bad_request(f"Invalid {name} filter [{least}]")
            rows = [row for row in rows if row[field] >= int(least)]
    named = [{**row, "flavorid": row["id"], "memory_mb": row["ram"], "root_gb": row["disk"]} for row in rows]
    check_sorting(request, SORTABLE)
    shown = page(ordered(named, query, (("flavorid", False),)), query, missing=unknown_marker)
    body: dict[str, Any] = {"flavors": [view(row) for row in shown.rows]}
    if shown.next_marker is not None:
        body["flavors_links"] = shown.links(request)
    return Response(body)


def list_flavors(flavors: Flavors, request: Request) -> Response:
    described = request.version >= (2, 55)
    return _flavors(
        flavors,
        request,
        lambda row: {
            **brief(request, "flavors", row),
            **({"description": row["description"]} if described else {}),
        },
    )


def list_flavors_detail(flavors: Flavors, request: Request) -> Response:
    return _flavors(flavors, request, lambda row: flavor_detail(request, row))


def show_flavor(flavors: Flavors, request: Request) -> Response:
    return Response({"flavor": flavor_detail(request, _flavor(flavors, request))})


def create_flavor(flavors: Flavors, request: Request) -> Response:
    request.context.require()
    wanted = request.object("flavor")
    checks = {**FLAVOR, **({"description": DESCRIPTION} if request.version >= (2, 55) else {})}
    fields.check_fields(wanted, checks, ("name", "ram", "vcpus", "disk"), "flavor")
    key = wanted.get("id")
    public = fields.as_boolean(wanted.get("os-flavor-access:is_public", True))
    flavor = flavors.create(
        {
            "id": None if key in (None, "auto") else str(key).strip(),
            "name": wanted["name"].strip(),
            **{name: int(wanted[name]) for name in ("ram", "vcpus", "disk")},
            "ephemeral": int(wanted.get("OS-FLV-EXT-DATA:ephemeral", 0)),
            "swap": int(wanted.get("swap", 0)),
            "rxtx_factor": float(wanted.get("rxtx_factor", 1.0)),
            "is_public": public,
            "description": wanted.get("description"),
        }
    )
    return Response({"flavor": flavor_detail(request, flavor)})


def update_flavor(flavors: Flavors, request: Request) -> Response:
    request.context.require()
    if request.version < (2, 55):
        raise not_found("The resource could not be found.")
    flavor, wanted = _flavor(flavors, request), request.object("flavor")
    fields.check_fields(wanted, {"description": DESCRIPTION}, ("description",), "flavor")
    flavors.rows.update(flavor, description=wanted["description"])
    return Response({"flavor": flavor_detail(request, flavor)})


def delete_flavor(flavors: Flavors, request: Request) -> Response:
    request.context.require()
    flavors.rows.remove(_flavor(flavors, request))
    return Response(status=202)


def list_specs(flavors: Flavors, request: Request) -> Response:
    return Response({"extra_specs": _flavor(flavors, request)["extra_specs"]})


def add_specs(flavors: Flavors, request: Request) -> Response:
    request.context.require()
    flavor, wanted = _flavor(flavors, request), request.object("extra_specs")
    texts = {key: str(value) if isinstance(value, int | float) else value for key, value in wanted.items()}
    check_formats(request, texts)
    EXTRA_SPECS.add(flavors.rows, flavor, texts)
    return Response({"extra_specs": texts})


def show_spec(flavors: Flavors, request: Request) -> Response:
    return EXTRA_SPECS.show(_flavor(flavors, request), request)


def update_spec(flavors: Flavors, request: Request) -> Response:
    request.context.require()
    if isinstance(request.json, dict):
        check_formats(request, request.json)
    return EXTRA_SPECS.change(flavors.rows, _flavor(flavors, request), request)


def delete_spec(flavors: Flavors, request: Request) -> Response:
    request.context.require()
    EXTRA_SPECS.remove(flavors.rows, _flavor(flavors, request), request)
    return Response(status=200)


def _access(flavor: Record) -> Response:
    return Response({"flavor_access": [{"flavor_id": flavor["id"], "tenant_id": one} for one in flavor["_projects"]]})


def list_access(flavors: Flavors, request: Request) -> Response:
    request.context.require()
    flavor = _flavor(flavors, request)
    if flavor["is_public"]:
        raise not_found("Access list not available for public flavors.")
    return _access(flavor)


def flavor_action(flavors: Flavors, request: Request) -> Response:
    request.context.require()
    flavor, body = _flavor(flavors, request), request.json
    changes = {"addTenantAccess": flavors.add_access, "removeTenantAccess": flavors.remove_access}
    name = next((key for key in changes if isinstance(body, dict) and key in body), None)
    if name is None:
        raise bad_request(f"The action must be one of {', '.join(changes)}.")
    fields.check_fields(body[name], {"tenant": fields.text(1)}, ("tenant",), name)
    project = body[name]["tenant"]
    if flavors.cloud.of(IdentityRecords).projects.get(project) is None:
        raise bad_request(f"Project ID {project} is not a valid project.")
    changes[name](flavor, project)
    return _access(flavor)


def _key_owner(request: Request, asked: str | None, action: str = "show") -> str:
    """The owner of the keypairs: since 2.10 an admin may name another user."""
    if request.version < (2, 10) or asked in (None, request.context.user_id):
        return request.context.user_id
    if not request.context.is_admin:
        raise forbidden(f"Policy doesn't allow os_compute_api:os-keypairs:{action} to be performed.")
    return str(asked)


def _unknown_key(marker: str) -> ApiError:
    return bad_request(f"Marker {marker} could not be found.")


def list_keypairs(keypairs: Keypairs, request: Request) -> Response:
    user = _key_owner(request, request.query.get("user_id"))
    rows = sorted(keypairs.rows.select(user_id=user), key=lambda row: str(row["name"]))
    links: list[dict[str, str]] = []
    if request.version >= (2, 35):
        shown = page(rows, request.query, key="name", missing=_unknown_key)
        rows, links = shown.rows, shown.links(request)
    body: dict[str, Any] = {"keypairs": [{"keypair": keypair_summary(request, row)} for row in rows]}
    return Response({**body, "keypairs_links": links} if links else body)


def create_keypair(keypairs: Keypairs, request: Request) -> Response:
    wanted = request.object("keypair")
    form = r"[_\-\@\. a-zA-Z0-9]+" if request.version >= (2, 92) else r"[a-zA-Z0-9_\- ]+"
    checks: dict[str, fields.Check] = {
        "name": fields.text(1, 255, form),
        "public_key": fields.nullable(fields.text(0, 65535)),
    }
    if request.version >= (2, 2):
        checks["type"] = fields.one_of("ssh", "x509")
    if request.version >= (2, 10):
        checks["user_id"] = fields.text(1)
    required = ("name", "public_key") if request.version >= (2, 92) else ("name",)
    fields.check_fields(wanted, checks, required, "keypair")
    if request.version >= (2, 92) and wanted["public_key"] is None:
        raise fields.invalid("public_key", None, "None is not of type 'string'")
    user = _key_owner(request, wanted.get("user_id"), "create")
    kind, context = wanted.get("type", "ssh"), request.context
    keypair = keypairs.create(user, context.project, wanted["name"], kind, wanted.get("public_key"))
    view = {**keypair_summary(request, keypair), "user_id": user}
    if keypair["_private_key"] is not None:
        view["private_key"] = keypair["_private_key"]
    return Response({"keypair": view}, 201 if request.version >= (2, 2) else 200)


def _keypair(keypairs: Keypairs, request: Request) -> Record:
    return keypairs.find(_key_owner(request, request.query.get("user_id")), request.vars["name"])


def show_keypair(keypairs: Keypairs, request: Request) -> Response:
    return Response({"keypair": keypair_detail(request, _keypair(keypairs, request))})


def delete_keypair(keypairs: Keypairs, request: Request) -> Response:
    keypairs.rows.remove(_keypair(keypairs, request))
    return Response(status=204 if request.version >= (2, 2) else 202)


def _group(groups: ServerGroups, request: Request) -> Record:
    return visible(groups.rows, request.context, request.vars["group_id"])


def list_groups(groups: ServerGroups, request: Request) -> Response:
    context = request.context
    everyone = context.is_admin and request.query.boolean("all_projects")
    rows = list(groups.rows) if everyone else groups.rows.select(project_id=context.project)
    check_sorting(request, ())
    offset = request.query.integer("offset") or 0
    shown = page(rows[offset:], request.query).rows
    return Response({"server_groups": [group_detail(request, row) for row in shown]})


def create_group(groups: ServerGroups, request: Request) -> Response:
    wanted = request.object("server_group")
    allowed = POLICIES if request.version >= (2, 15) else POLICIES[:2]
    checks: dict[str, fields.Check] = {"name": fields.name()}
    if request.version >= (2, 64):
        checks |= {"policy": fields.one_of(*allowed), "rules": fields.anything}
        fields.check_fields(wanted, checks, ("name", "policy"), "server_group")
        policy, rules = wanted["policy"], wanted.get("rules")
    else:
        checks["policies"] = fields.items(fields.one_of(*allowed), 1)
        fields.check_fields(wanted, checks, ("name", "policies"), "server_group")
        if not wanted["policies"]:
            raise fields.invalid("policies", [], "[] is too short")
        policy, rules = wanted["policies"][0], None
    if rules is not None:
        fields.check_fields(rules, {"max_server_per_host": fields.integer(1, 2**63 - 1)}, where="rules")
        rules = {key: int(value) for key, value in rules.items()}
    group = groups.create(request.context, wanted["name"].strip(), policy, rules)
    return Response({"server_group": group_detail(request, group)})


def show_group(groups: ServerGroups, request: Request) -> Response:
    return Response({"server_group": group_detail(request, _group(groups, request))})


def delete_group(groups: ServerGroups, request: Request) -> Response:
    groups.rows.remove(_group(groups, request))
    return Response(status=204)
