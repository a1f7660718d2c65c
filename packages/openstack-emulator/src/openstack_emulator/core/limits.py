"""Limits by project, with defaults that an operator may change, as Nova and Cinder keep them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.typed import TypedRecord

DEFAULT = "default"


@dataclass(slots=True, kw_only=True, eq=False)
class OwnLimits(TypedRecord):
    """The limits that a project has of its own, by name; its `id` is that of the project."""

    limits: dict[str, int]


class Limits(Rules):
    """The limits of projects by project id, and those of all others under the id `default`; -1 means unlimited."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("quotas", OwnLimits)

    @abstractmethod
    def initial(self) -> Mapping[str, int]:
        """All limits with their values in a new cloud."""

    def default_limits(self) -> dict[str, int]:
        """The limits of a project without limits of its own."""
        return self._with_own(self.initial(), DEFAULT)

    def limits_of(self, project_id: str) -> dict[str, int]:
        """The limits of a project."""
        return self._with_own(self.default_limits(), project_id)

    def _with_own(self, limits: Mapping[str, int], key: str) -> dict[str, int]:
        row = self.rows.get(key)
        own = {} if row is None else row.limits
        return {name: own.get(name, limit) for name, limit in limits.items()}

    def exceeded(self, project_id: str, requested: Mapping[str, float], used: Mapping[str, float]) -> dict[str, int]:
        """The limits, by name, that a project which has `used` would exceed with `requested` more.

        What nothing more is requested of exceeds no limit.
        """
        limits = self.limits_of(project_id)
        return {
            name: limits[name] for name, more in requested.items() if more > 0 and 0 <= limits[name] < used[name] + more
        }

    def set_limits(self, key: str, changes: Mapping[str, int]) -> None:
        """Limit a project, or all of them with the key `default`."""
        row = self.rows.get(key) or self.rows.add(OwnLimits(id=key, limits={}))
        self.rows.update(row, limits={**row.limits, **changes})

    def reset_limits(self, project_id: str) -> None:
        """Remove the limits of a project, so that the defaults apply again."""
        if (row := self.rows.get(project_id)) is not None:
            self.rows.remove(row)


def usage(limits: Mapping[str, int], used: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Limits with what is in use of each, as quota sets have them in detail."""
    return {name: {"limit": limit, "in_use": used[name], "reserved": 0} for name, limit in limits.items()}


def over_limit(message: str) -> ApiError:
    """The 413 of Cinder and Manila for what goes beyond a limit."""
    return ApiError(413, message, headers={"Retry-After": "0"}, retryAfter="0")
