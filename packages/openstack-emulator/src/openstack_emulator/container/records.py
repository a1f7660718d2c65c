"""What the service for single containers keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class RequestedInterface(Part):
    """A network that a container is to be on, or the port that it gets."""

    network: str | None
    port: str | None
    fixed_ip: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Container(TypedRecord):
    """A container. `memory` is in mebibytes, `disk` in gibibytes.

    output: what its commands have written. run: how often one was begun; retries: after a failure.
    interfaces: those that it gets at the end of its creation. files: contents in Base64 by path.
    """

    uuid: str
    name: str
    image: str
    image_driver: str
    image_pull_policy: str | None
    command: list[str]
    cpu: float | None
    memory: str | None
    disk: int | None
    environment: dict[str, str]
    labels: dict[str, str]
    workdir: str | None
    hostname: str | None
    interactive: bool
    tty: bool
    auto_remove: bool
    restart_policy: dict[str, str] | None
    runtime: str | None
    privileged: bool
    auto_heal: bool
    cpu_policy: str
    registry_id: str | None
    entrypoint: list[str]
    healthcheck: dict[str, str]
    host: str | None
    ports: list[int]
    security_groups: list[str]
    status: str
    status_reason: str | None
    status_detail: str | None
    task_state: str | None
    project_id: str
    user_id: str
    created_at: str
    updated_at: str | None
    started_at: str | None
    output: str = field(metadata=named("_output"))
    run: int = field(metadata=named("_run"))
    retries: int = field(metadata=named("_retries"))
    interfaces: list[RequestedInterface] = field(metadata=named("_interfaces"))
    files: dict[str, str] = field(metadata=named("_files"))


@dataclass(slots=True, kw_only=True, eq=False)
class Host(TypedRecord):
    """The host of containers, and the state of the service process on it."""

    uuid: str
    name: str
    disabled: bool
    disabled_reason: str | None
    forced_down: bool | None
    created_at: str


@dataclass(slots=True, kw_only=True, eq=False)
class Image(TypedRecord):
    """An image that was pulled for a project. `size` is in bytes."""

    uuid: str
    image_id: str
    repo: str
    tag: str
    size: int
    host: str
    driver: str
    project_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class Interface(TypedRecord):
    """A port that a container has; whether it was created for the container."""

    container_id: str
    created: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Mount(TypedRecord):
    """A volume that a container has; whether it was created for the container."""

    container_id: str
    volume_id: str
    created: bool
    attachment_id: str | None
