"""Limits of the objects that a project may have; -1 means unlimited."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.limits import Limits

UNLIMITED = -1
KINDS = ("secrets", "orders", "containers", "consumers", "cas")


class Quotas(Limits):
    """The limits of projects."""

    def initial(self) -> Mapping[str, int]:
        return dict.fromkeys(KINDS, UNLIMITED)

    def admit(self, project_id: str, kind: str, used: int) -> None:
        """Raise ApiError 403 when a project that has `used` objects of a kind (one of `KINDS`) may have no more."""
        if self.exceeded(project_id, {kind: 1}, {kind: used}):
            what = kind.removesuffix("s").capitalize()
            raise forbidden(f"{what} creation issue seen - Creation not allowed because a quota has been reached.")
