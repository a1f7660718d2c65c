"""How much of compute a project may use."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.compute.records import Server, ServerGroup
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.limits import Limits
from openstack_emulator.core.store import Table

DEFAULT_LIMITS: Mapping[str, int] = {
    "instances": 10,
    "cores": 20,
    "ram": 51200,
    "metadata_items": 128,
    "injected_files": 5,
    "injected_file_content_bytes": 10240,
    "injected_file_path_bytes": 255,
    "key_pairs": 100,
    "server_groups": 10,
    "server_group_members": 10,
    "floating_ips": -1,
    "fixed_ips": -1,
    "security_groups": -1,
    "security_group_rules": -1,
}
"""Nova's defaults; `ram` is in MiB, and -1 is no limit."""


class Quotas(Limits):
    """The limits of Nova, and how much of each a project uses.

    servers, server_groups: the tables whose records are counted.
    """

    def __init__(self, records: Records, servers: Table[Server], server_groups: Table[ServerGroup]) -> None:
        super().__init__(records)
        self._servers = servers
        self._server_groups = server_groups

    def initial(self) -> Mapping[str, int]:
        return DEFAULT_LIMITS

    def used_by(self, project_id: str) -> dict[str, int]:
        """What a project uses of each limit; what is limited per user or per group is 0 here."""
        servers = self._servers.select(project_id=project_id)
        return {
            **dict.fromkeys(DEFAULT_LIMITS, 0),
            "instances": len(servers),
            "cores": sum(server.flavor.vcpus for server in servers),
            "ram": sum(server.flavor.ram for server in servers),
            "server_groups": len(self._server_groups.select(project_id=project_id)),
        }

    def check_metadata(self, project_id: str, metadata: Mapping[str, object]) -> None:
        """Raise ApiError 403 for more items of metadata than a server may have."""
        limit = self.limits_of(project_id)["metadata_items"]
        if 0 <= limit < len(metadata):
            raise forbidden(f"Quota exceeded: Maximum number of metadata items exceeds {limit}")

    def check(self, project_id: str, requested: Mapping[str, int]) -> None:
        """Refuse a request that exceeds a limit.

        requested: quota name → how much more of it.

        Raises: ApiError 403.
        """
        used = self.used_by(project_id)
        if beyond := self.exceeded(project_id, requested, used):
            raise forbidden(
                f"Quota exceeded for {', '.join(beyond)}: "
                f"Requested {', '.join(str(requested[name]) for name in beyond)}, "
                f"but already used {', '.join(str(used[name]) for name in beyond)} "
                f"of {', '.join(map(str, beyond.values()))} {', '.join(beyond)}"
            )
