"""What requests want."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class NewContainer:
    """A new container; `nets` and `mounts` are as requests have them. `memory` is in mebibytes, `disk` in gibibytes."""

    name: str | None
    image: str
    image_driver: str
    image_pull_policy: str | None
    command: list[str]
    cpu: float
    memory: int | None
    disk: int | None
    environment: dict[str, str]
    labels: dict[str, str]
    workdir: str | None
    hostname: str | None
    interactive: bool
    tty: bool
    auto_remove: bool
    restart_policy: dict[str, str]
    availability_zone: str | None
    security_groups: Sequence[str]
    nets: Sequence[Mapping[str, Any]]
    mounts: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of a container; None leaves a field as it is."""

    name: str | None
    cpu: float | None
    memory: int | None


@dataclass(frozen=True, kw_only=True)
class RequestedMount:
    """A volume for a container, or the size in gibibytes of a new one."""

    volume_id: str | None
    size: int | None
