"""OS::Neutron::Quota"""

from __future__ import annotations

from stoker.resources.quota import PROJECT, ProjectQuota, limit
from stoker.schema.property import Support

_LATER = Support(version="12.0.0")


class Quota(ProjectQuota):
    """The network quotas of a project."""

    type_name = "OS::Neutron::Quota"
    description = "Network quotas of a project. By default only administrators may set them."
    service = "neutron"
    extension = "quotas"
    for_administrators = True
    path = "/v2.0/quotas"
    member = "quota"
    defaults = "default"
    support = Support(version="8.0.0")

    properties = {
        "project": PROJECT,
        "subnet": limit("subnets"),
        "network": limit("networks"),
        "floatingip": limit("floating IP addresses"),
        "security_group_rule": limit("rules of security groups"),
        "security_group": limit("security groups"),
        "router": limit("routers"),
        "port": limit("ports"),
        "subnetpool": limit("subnet pools", _LATER),
        "rbac_policy": limit("RBAC policies", _LATER),
    }
