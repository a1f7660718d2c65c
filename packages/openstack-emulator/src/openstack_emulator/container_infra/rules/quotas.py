"""How many clusters a project may have."""

from __future__ import annotations

from openstack_emulator.container_infra.records import Quota
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found
from openstack_emulator.core.objects import TIMESTAMP
from openstack_emulator.core.rules import Rules
from openstack_emulator.identity.rules.composition import Identity

CLUSTER = "Cluster"
DEFAULT_LIMIT = 20
"""Clusters of a project without a limit of its own, as in Magnum."""


class Quotas(Rules):
    """The limits that administrators have set, by project."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("quotas", Quota, "project_id", missing=_missing)

    def limit_of(self, project_id: str) -> int:
        """Return how many clusters a project may have."""
        row = self.rows.get(f"{project_id}:{CLUSTER}")
        return DEFAULT_LIMIT if row is None else row.hard_limit

    def admit(self, project_id: str, used: int) -> None:
        """Raise ApiError 403 if a project that has `used` clusters may not have another one."""
        limit = self.limit_of(project_id)
        if 0 <= limit <= used:
            raise forbidden(
                f"Resource limit exceeded: You have reached the maximum clusters per project, {limit}. You may delete "
                "a cluster to make room for a new one."
            )

    def create(self, project_id: str, limit: int) -> Quota:
        """Limit a project. Raises ApiError 404 for an unknown project, and 409 for one with a limit."""
        if self.cloud.of(Identity).projects.rows.get(project_id) is None:
            raise not_found(f"The project_id {project_id} could not be found.")
        key = f"{project_id}:{CLUSTER}"
        if key in self.rows:
            raise conflict(f"Quota for project {project_id} already exists for resource {CLUSTER}.")
        return self.rows.add(
            Quota(
                id=key,
                number=1 + max((row.number for row in self.rows), default=0),
                project_id=project_id,
                resource=CLUSTER,
                hard_limit=limit,
                created_at=self.records.timestamp(TIMESTAMP),
                updated_at=None,
            )
        )

    def change(self, quota: Quota, project_id: str, limit: int) -> None:
        """Change the limit of a project. Raises ApiError 400 for another project."""
        if project_id != quota.project_id:
            raise bad_request("The project of a quota cannot be changed.")
        quota.hard_limit, quota.updated_at = limit, self.records.timestamp(TIMESTAMP)
        self.rows.save(quota)


def _missing(key: str) -> ApiError:
    project_id, _, resource = key.partition(":")
    return not_found(f"Quota could not be found: project_id {project_id} resource {resource}.")
