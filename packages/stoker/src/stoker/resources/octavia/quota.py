"""OS::Octavia::Quota"""

from __future__ import annotations

from stoker.resources.quota import PROJECT, ProjectQuota, limit
from stoker.schema.property import Support


class Quota(ProjectQuota):
    """The load-balancer quotas of a project."""

    type_name = "OS::Octavia::Quota"
    description = "Load-balancer quotas of a project. By default only administrators may set them."
    service = "octavia"
    for_administrators = True
    path = "/lbaas/quotas"
    member = "quota"
    defaults = "default"
    support = Support(version="14.0.0")

    properties = {
        "project": PROJECT,
        "healthmonitor": limit("health monitors"),
        "listener": limit("listeners"),
        "loadbalancer": limit("load balancers"),
        "pool": limit("pools"),
        "member": limit("members of pools"),
    }
