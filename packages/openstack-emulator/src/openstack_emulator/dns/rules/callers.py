"""Who acts."""

from __future__ import annotations

from dataclasses import dataclass

from openstack_emulator.core.typed import Readable


@dataclass(frozen=True)
class Caller:
    """Who acts, and with which of the extra rights that headers request.

    project_id: the caller's project, or the one that an administrator acts for (`X-Auth-Sudo-Project-ID`).
    all_projects: objects of all projects are reachable (`X-Auth-All-Projects`).
    edits_managed: records that Designate manages itself can be changed (`X-Designate-Edit-Managed-Records`).
    """

    project_id: str
    is_admin: bool
    all_projects: bool
    edits_managed: bool

    def may_see(self, record: Readable) -> bool:
        """Return whether a record is in reach: those of other projects only with `all_projects`."""
        return self.all_projects or bool(record.get("project_id") == self.project_id)
