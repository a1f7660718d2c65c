"""Cluster templates over HTTP."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.container_infra.routes.fields import (
    FLAG,
    LABELS,
    NUMBER,
    TEXT,
    Field,
    changed,
    fields_of,
    integer,
    one_of,
    text,
)
from openstack_emulator.container_infra.routes.patches import check_form, patched
from openstack_emulator.container_infra.rules.composition import ContainerClusters
from openstack_emulator.container_infra.rules.drivers import COES
from openstack_emulator.container_infra.views import template_view
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import missing, page_response, reader, writer

KNOWN: Mapping[str, Field] = {
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
    "labels": LABELS,
    "tls_disabled": FLAG,
    "public": FLAG,
    "hidden": FLAG,
    "registry_enabled": FLAG,
    "insecure_registry": TEXT,
    "server_type": one_of("vm", "bm"),
    "master_lb_enabled": FLAG,
    "floating_ip_enabled": FLAG,
    "tags": TEXT,
    "driver": TEXT,
    "cluster_distro": TEXT,
}
DEFAULTS: Mapping[str, object] = {
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


def index(service: ContainerClusters, request: Request) -> Response:
    rows = service.templates.listed(reader(request))
    return page_response(request, "clustertemplates", rows, template_view, missing=missing("ClusterTemplate"))


def create(service: ContainerClusters, request: Request) -> Response:
    writer(request)
    settings = {**DEFAULTS, **fields_of(request, "cluster_template", KNOWN, ("image_id",))}
    if settings["coe"] is None:
        raise bad_request("Requested COE type Unset is not supported.")
    view = template_view(request.base, service.templates.create(request, settings))
    return Response(view, 201, {"Location": view["links"][0]["href"]})


def show(service: ContainerClusters, request: Request) -> Response:
    return Response(template_view(request.base, service.templates.find(reader(request), request.vars["key"])))


def change(service: ContainerClusters, request: Request) -> Response:
    check_form(request.json)
    template = service.templates.owned(writer(request), request.vars["key"])
    found = patched({name: template.get(name) for name in KNOWN}, request.json, READ_ONLY, MANDATORY)
    changes = {
        name: DEFAULTS[name] if value is None else changed(name, value, KNOWN[name]) for name, value in found.items()
    }
    before = {"updated_at": template.updated_at}
    service.templates.change(request, template, changes)
    return Response({**template_view(request.base, template), **before})


def delete(service: ContainerClusters, request: Request) -> Response:
    service.templates.remove(service.templates.owned(writer(request), request.vars["key"]))
    return Response(status=204)
