"""The quotas of projects."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.limits import Limits
from openstack_emulator.dns.rules.errors import over_quota

UNLIMITED = -1
EXPORT_SIZE = "api_export_size"
LIMITS = {"zones": 10, "zone_recordsets": 500, "zone_records": 500, "recordset_records": 20, EXPORT_SIZE: 1000}


class Quotas(Limits):
    """The limits of projects; -1 means unlimited."""

    def initial(self) -> Mapping[str, int]:
        return LIMITS

    def admit(self, project_id: str, kind: str, requested: int) -> None:
        """Raise ApiError 413 when a project may not have `requested` objects of a kind."""
        if self.exceeded(project_id, {kind: requested}, {kind: 0}):
            raise over_quota(kind)
