"""Cluster templates: what the clusters that are made from them consist of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.container_infra.drivers import (
    COES,
    DRIVERS,
    NETWORK_DRIVERS,
    check_drivers,
)
from openstack_emulator.container_infra.http import (
    NUMBER,
    TEXT,
    Check,
    changed,
    flag,
    given,
    integer,
    labels,
    one_of,
    text,
)
from openstack_emulator.container_infra.patching import check_form, patched
from openstack_emulator.core.cloud import Cloud, Records, new_id
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import RolesLacking, bad_request, forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.lookups import member_of_collection, one_of_collection
from openstack_emulator.core.objects import TIMESTAMP, by_name_or_id, links, listed, missing, reader, writer
from openstack_emulator.core.store import Collection, Record

KNOWN: Mapping[str, Check] = {
    "name": text(shortest=1),
    "coe": one_of(*COES),
    "image_id": text(shortest=1),
    "flavor_id": TEXT,
    "master_flavor_id": TEXT,
    "keypair_id": TEXT,
    "external_network_id": TEXT,
    "fixed_network": TEXT,
    "fixed_subnet": TEXT,
    "dns_nameserver": TEXT,
    "docker_volume_size": NUMBER,
    "docker_storage_driver": TEXT,
    "network_driver": TEXT,
    "volume_driver": TEXT,
    "http_proxy": TEXT,
    "https_proxy": TEXT,
    "no_proxy": TEXT,
    "apiserver_port": integer(1024, 65535),
    "labels": labels,
    "tls_disabled": flag,
    "public": flag,
    "hidden": flag,
    "registry_enabled": flag,
    "insecure_registry": TEXT,
    "server_type": one_of("vm", "bm"),
    "master_lb_enabled": flag,
    "floating_ip_enabled": flag,
    "tags": TEXT,
    "driver": TEXT,
    "cluster_distro": TEXT,
}
DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(KNOWN),
    "labels": {},
    "tls_disabled": False,
    "public": False,
    "hidden": False,
    "registry_enabled": False,
    "server_type": "vm",
    "master_lb_enabled": False,
    "floating_ip_enabled": True,
}
MANDATORY = ("coe", "image_id")
READ_ONLY = ("uuid", "project_id", "user_id", "created_at", "updated_at", "links", "cluster_distro")
"""The distribution may be given for a new template, but is always that of the image."""
_FLAVOR = ("flavor", one_of_collection, "/compute/v2.1/flavors", "flavors")
REFERENCES: Mapping[str, tuple[str, Callable[..., dict[str, Any] | None], str, str]] = {
    "flavor_id": _FLAVOR,
    "master_flavor_id": _FLAVOR,
    "keypair": ("keypair", member_of_collection, "/compute/v2.1/os-keypairs", "keypair"),
    "external_network_id": ("external network", one_of_collection, "/network/v2.0/networks", "networks"),
    "fixed_network": ("fixed network", one_of_collection, "/network/v2.0/networks", "networks"),
    "fixed_subnet": ("fixed subnet", one_of_collection, "/network/v2.0/subnets", "subnets"),
}
"""Fields that name objects of other services: what the object is called, and how it is looked up. The key pair of a
template is not looked up: it is that of each user of the template.
"""
ALWAYS_CHANGEABLE = {"name", "public", "hidden", "tags"}
"""What of a template can be changed although clusters use it."""


class Templates(Component):
    """The cluster templates of all projects."""

    def __init__(self, records: Records, clusters: Collection) -> None:
        super().__init__(records)
        self.rows = records.collection("clustertemplates", ("name",), missing("ClusterTemplate"))
        self._clusters = clusters

    def find(self, context: Context, key: str) -> Record:
        """Return a template by ID or name. Raises ApiError 404 and 409."""
        return by_name_or_id(self.rows, "ClusterTemplate", key, lambda row: _may_see(context, row))

    def owned(self, context: Context, key: str) -> Record:
        """Return a template that the caller may change. Raises ApiError 403, 404 and 409."""
        template = self.find(context, key)
        if not context.may_see(template):
            raise RolesLacking(())
        return template

    def listed(self, context: Context) -> list[Record]:
        """Return the templates that the caller may use, in order of creation."""
        return [row for row in self.rows if _may_see(context, row)]

    def create(self, request: Request) -> Record:
        """Add the template that a request describes. Raises ApiError 400 and 403."""
        context = request.context
        wanted = {**DEFAULTS, **given(request, "cluster_template", KNOWN, ("image_id",))}
        if wanted["coe"] is None:
            raise bad_request("Requested COE type Unset is not supported.")
        wanted["network_driver"] = wanted["network_driver"] or NETWORK_DRIVERS[wanted["coe"]][0]
        template = {**wanted, "cluster_distro": self._distribution(request, wanted["image_id"])}
        self._check(request, template, set(wanted))
        identifier = new_id()
        return self.rows.add(
            {
                **template,
                "id": identifier,
                "uuid": identifier,
                "name": template["name"] or f"{identifier[:8]}-template",
                "project_id": context.project,
                "user_id": context.user_id,
                "created_at": self.records.timestamp(TIMESTAMP),
                "updated_at": None,
            }
        )

    def change(self, request: Request, template: Record) -> None:
        """Apply the JSON patch of a request. Raises ApiError 400, also for a template in use, 403 and 404."""
        document = {name: template[name] for name in KNOWN}
        found = patched(document, request.json, READ_ONLY, MANDATORY)
        changes = {
            name: DEFAULTS[name] if value is None else changed(name, value, KNOWN[name])
            for name, value in found.items()
        }
        if changes.keys() - ALWAYS_CHANGEABLE:
            self.require_unused(template)
        after = {**template, **changes}
        after["network_driver"] = after["network_driver"] or NETWORK_DRIVERS[after["coe"]][0]
        after["name"] = after["name"] or template["name"]
        if "image_id" in changes:
            after["cluster_distro"] = self._distribution(request, after["image_id"])
        self._check(request, after, set(changes))
        self.rows.update(template, **{**after, "updated_at": self.records.timestamp(TIMESTAMP)})

    def require_unused(self, template: Record) -> None:
        """Refuse the deletion of a template that clusters use. Raises ApiError 400."""
        if self._clusters.first(cluster_template_id=template["id"]) is not None:
            raise bad_request(f"ClusterTemplate {template['id']} is referenced by one or multiple clusters.")

    def _check(self, request: Request, template: Record, changed: set[str]) -> None:
        opened = changed & {"public", "hidden"} and (template["public"] or template["hidden"])
        if opened and not request.context.is_admin:
            raise forbidden("Not authorized to set public or hidden flag for cluster template.")
        check_drivers(template)
        for name in changed:
            if template[name] is not None:
                check_reference(self.cloud, request, name, template[name])

    def _distribution(self, request: Request, image: str) -> str:
        """Return the distribution in an image. Raises ApiError 400 for an unknown image, or one that names none."""
        shown = one_of_collection(self.cloud, request, "/image/v2/images", "images", image)
        if shown is None:
            raise bad_request(f"Image {image} could not be found.")
        if not shown.get("os_distro"):
            raise bad_request(f"Image {image} doesn't contain os_distro field.")
        return str(shown["os_distro"])


def check_reference(cloud: Cloud, request: Request, field: str, value: str) -> None:
    """Refuse a field that names an object of another service which does not exist. Raises ApiError 400, 404 or 409."""
    if field not in REFERENCES:
        return
    what, look_up, path, key = REFERENCES[field]
    found = look_up(cloud, request, path, key, value)
    if found is None or (what == "external network" and not found.get("router:external")):
        error = not_found if what == "keypair" else bad_request
        raise error(f"Unable to find {what} {value}.")


def _may_see(context: Context, template: Record) -> bool:
    return context.may_see(template) or (template["public"] and not template["hidden"])


def template_view(base: str, template: Record) -> dict[str, Any]:
    """Return a template as clients see it."""
    shown = {name: value for name, value in template.items() if name != "id" and not name.startswith("_")}
    driver = DRIVERS[template["server_type"], template["cluster_distro"], template["coe"]]
    key = template["id"]
    return {**shown, "driver": driver, "links": links(base, "clustertemplates", key)}


# -- routes -------------------------------------------------------------------------------------------------------


def index(templates: Templates, request: Request) -> Response:
    rows = templates.listed(reader(request))
    return listed(request, "clustertemplates", rows, template_view, missing=missing("ClusterTemplate"))


def create(templates: Templates, request: Request) -> Response:
    writer(request)
    made = template_view(request.base, templates.create(request))
    return Response(made, 201, {"Location": made["links"][0]["href"]})


def show(templates: Templates, request: Request) -> Response:
    return Response(template_view(request.base, templates.find(reader(request), request.vars["key"])))


def change(templates: Templates, request: Request) -> Response:
    check_form(request.json)
    template = templates.owned(writer(request), request.vars["key"])
    before = template["updated_at"]
    templates.change(request, template)
    return Response({**template_view(request.base, template), "updated_at": before})


def delete(templates: Templates, request: Request) -> Response:
    template = templates.owned(writer(request), request.vars["key"])
    templates.require_unused(template)
    templates.rows.remove(template)
    return Response(status=204)


TEMPLATE_ROUTES = using(
    Templates,
    {
        "/clustertemplates": {"GET": index, "POST": create},
        "/clustertemplates/detail": {"GET": index},
        "/clustertemplates/{key}": {"GET": show, "PATCH": change, "DELETE": delete},
    },
)
