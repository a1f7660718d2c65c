"""What the parts of the shared file systems service have in common: the back end's name, times, messages.

The records, by collection:

types: `{id, name, description, is_public, extra_specs, _projects}`.
security_services: `{id, name, description, type, dns_ip, server, domain, user, password, ou, status, project_id, …}`.
share_networks: `{id, name, description, project_id, created_at, updated_at, _security_services}`.
subnets: `{id, share_network_id, availability_zone, neutron_net_id, neutron_subnet_id, network_type, segmentation_id,
cidr, ip_version, gateway, mtu, …, _share_server_id}`; the first one of a share network is its default.
shares: `{id, name, description, size, share_proto, status, is_public, metadata, snapshot_id, share_network_id,
share_type_id, share_server_id, availability_zone, host, project_id, user_id, progress, …, _exports}`.
access_rules: `{id, share_id, access_type, access_to, access_level, access_key, state, metadata, …}`.
snapshots: `{id, share_id, name, description, status, size, share_size, share_proto, project_id, user_id, …}`.
messages: `{id, project_id, resource_id, action_id, detail_id, user_message, expires_at, …}`.
unmanaged: what exists on the back end and is unknown to Manila: `{id: export path, size, share_proto}`.
quotas: limits by project id, and the default ones under the id `default`.
"""

from __future__ import annotations

BACKEND_HOST = "devstack@generic#pool"
ADDRESS = "10.254.0.3"
ZONE = "nova"
PROTOCOLS = ("NFS", "CIFS", "GLUSTERFS", "HDFS", "CEPHFS")

SHORT = 0.05
LONG = 0.15

MISSING = {
    "types": "The resource could not be found.",
    "security_services": "The resource could not be found.",
    "share_networks": "Share network {} could not be found.",
    "subnets": "Share network subnet {} could not be found.",
    "shares": "The resource could not be found.",
    "access_rules": "Resource could not be found.",
    "snapshots": "The resource could not be found.",
    "messages": "Message {} could not be found.",
}
