"""OS::Nova::Quota"""

from __future__ import annotations

from stoker.resources.quota import PROJECT, ProjectQuota, limit
from stoker.schema.property import Support

_FORMER = Support("DEPRECATED", "14.0.0")


class Quota(ProjectQuota):
    """The compute quotas of a project."""

    type_name = "OS::Nova::Quota"
    description = "Compute quotas of a project. By default only administrators may set them."
    service = "nova"
    for_administrators = True
    path = "/os-quota-sets"
    member = "quota_set"
    support = Support(version="8.0.0")

    properties = {
        "project": PROJECT,
        "cores": limit("virtual processors"),
        "fixed_ips": limit("fixed IP addresses; not accepted by current releases of Nova"),
        "floating_ips": limit("floating IP addresses; not accepted by current releases of Nova"),
        "injected_file_content_bytes": limit("bytes in an injected file", _FORMER),
        "injected_file_path_bytes": limit("bytes in the path of an injected file", _FORMER),
        "injected_files": limit("injected files", _FORMER),
        "instances": limit("servers"),
        "key_pairs": limit("keypairs of a user"),
        "metadata_items": limit("metadata items of a server"),
        "ram": limit("memory in MiB"),
        "security_groups": limit("security groups; not accepted by current releases of Nova"),
        "security_group_rules": limit("rules of a security group; not accepted by current releases of Nova"),
        "server_groups": limit("server groups"),
        "server_group_members": limit("members of a server group"),
    }
