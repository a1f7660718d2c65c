"""All routes of the service for container clusters, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.container_infra.routes import certificates, clusters, nodegroups, quotas, services, templates
from openstack_emulator.container_infra.rules.composition import ContainerClusters
from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.guards import admin
from openstack_emulator.core.http import Request, Response

Routes = Mapping[str, Mapping[str, Callable[[ContainerClusters, Request], Response]]]
ROUTES: Routes = {
    "/certificates": {"POST": certificates.sign},
    "/certificates/{key}": {"GET": certificates.show, "PATCH": certificates.rotate},
    "/clusters": {"GET": clusters.index, "POST": clusters.create},
    "/clusters/detail": {"GET": clusters.index_in_detail},
    "/clusters/{key}": {"GET": clusters.show, "PATCH": clusters.change, "DELETE": clusters.delete},
    "/clusters/{key}/actions/resize": {"POST": clusters.resize},
    "/clusters/{key}/actions/upgrade": {"POST": clusters.upgrade},
    "/clusters/{key}/nodegroups": {"GET": nodegroups.index, "POST": nodegroups.create},
    "/clusters/{key}/nodegroups/{group}": {
        "GET": nodegroups.show,
        "PATCH": nodegroups.change,
        "DELETE": nodegroups.delete,
    },
    "/clustertemplates": {"GET": templates.index, "POST": templates.create},
    "/clustertemplates/detail": {"GET": templates.index},
    "/clustertemplates/{key}": {"GET": templates.show, "PATCH": templates.change, "DELETE": templates.delete},
    "/mservices": {"GET": admin(services.list_services)},
    "/quotas": {"GET": quotas.index, "POST": quotas.create},
    "/quotas/{project_id}/{resource}": {"GET": quotas.show, "PATCH": quotas.change, "DELETE": quotas.delete},
    "/stats": {"GET": clusters.stats},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {
    "/": {"GET": services.list_versions},
    "/v1": {"GET": services.version},
}
"""What is directly below the mount: the versions."""
