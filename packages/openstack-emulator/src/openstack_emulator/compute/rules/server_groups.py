"""Server groups: servers that are to be on the same host, or on different ones."""

from __future__ import annotations

from openstack_emulator.compute.records import ServerGroup
from openstack_emulator.compute.rules.quotas import Quotas
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table

POLICIES = ("anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity")


class ServerGroups(Rules):
    """Server groups and their members.

    rows: the table of groups, which quotas count too.
    """

    def __init__(self, records: Records, rows: Table[ServerGroup], quotas: Quotas) -> None:
        super().__init__(records)
        self.rows = rows
        self._quotas = quotas

    def create(self, context: Context, name: str, policy: str, rules: dict[str, int] | None) -> ServerGroup:
        """A new server group; 403 beyond the quota."""
        limit = self._quotas.limits_of(context.project)["server_groups"]
        if 0 <= limit <= len(self.rows.select(project_id=context.project)):
            raise forbidden("Quota exceeded, too many server groups.")
        if rules and policy != "anti-affinity":
            raise bad_request("Only anti-affinity policy supports rules.")
        return self.rows.add(
            ServerGroup(
                id=new_id(),
                name=name,
                policy=policy,
                rules=rules or {},
                members=[],
                project_id=context.project,
                user_id=context.user_id,
            )
        )

    def group_of(self, server_id: str) -> ServerGroup | None:
        """The group a server is in."""
        return next((group for group in self.rows if server_id in group.members), None)

    def join(self, group: ServerGroup, server_id: str) -> None:
        """Make a server a member of a group."""
        self.rows.update(group, members=[*group.members, server_id])

    def leave(self, server_id: str) -> None:
        """Remove a server from the group that it is in, if any."""
        if (group := self.group_of(server_id)) is not None:
            self.rows.update(group, members=[key for key in group.members if key != server_id])

    def require_room(self, key: str, more: int) -> None:
        """400 for an unknown group, 403 for one that may not have so many more members."""
        group = self.rows.get(key)
        if group is None:
            raise bad_request(f"Instance group {key} could not be found.")
        most = self._quotas.limits_of(group.project_id)["server_group_members"]
        if 0 <= most < len(group.members) + more:
            raise forbidden("Quota exceeded, too many servers in group")
