"""What the key manager keeps. Times are as the service writes them: in UTC, without an offset and without fractions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class AccessList(Part):
    """Who may read an object: the users, and its project unless that has no access."""

    project_access: bool = field(metadata=named("project-access"))
    users: list[str]
    created: str
    updated: str


@dataclass(slots=True, kw_only=True, eq=False)
class GuardedRecord(TypedRecord):
    """An object of a project. Without an access list of its own, everybody in the project may read it."""

    project_id: str
    creator_id: str
    acl: AccessList | None = field(metadata=named("_acl"))


@dataclass(slots=True, kw_only=True, eq=False)
class Secret(GuardedRecord):
    """A secret, whose payload is stored apart from it; without a `content_type`, it has none yet."""

    name: str | None
    status: str
    secret_type: str
    algorithm: str | None
    bit_length: int | None
    mode: str | None
    expiration: str | None
    created: str
    updated: str
    content_type: str | None = field(metadata=named("_content_type"))
    metadata: dict[str, str] = field(metadata=named("_metadata"))


@dataclass(slots=True, kw_only=True, eq=False)
class Entry(Part):
    """A secret in a container."""

    name: str | None
    secret_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class Consumer(Part):
    """Who has registered an interest in a container."""

    id: str
    name: str
    url: str = field(metadata=named("URL"))


@dataclass(slots=True, kw_only=True, eq=False)
class Container(GuardedRecord):
    """Named references to secrets."""

    type: str
    name: str | None
    status: str
    created: str
    updated: str
    entries: list[Entry] = field(metadata=named("_entries"))
    consumers: list[Consumer] = field(metadata=named("_consumers"))


@dataclass(slots=True, kw_only=True, eq=False)
class Order(TypedRecord):
    """A request for a key or a certificate, which `meta` describes as the request did.

    pass_phrase: of the private key, until it is generated. result: the id of what was generated, by its collection.
    """

    project_id: str
    type: str
    meta: dict[str, Any]
    status: str
    sub_status: str
    sub_status_message: str
    creator_id: str
    created: str
    updated: str
    error_status_code: str | None
    error_reason: str | None
    pass_phrase: str | None = field(metadata=named("_pass_phrase"))
    result: dict[str, str] = field(metadata=named("_result"))


@dataclass(slots=True, kw_only=True, eq=False)
class Authority(TypedRecord):
    """The certificate authority of the cloud: its key and its certificate, in PEM."""

    key: str = field(metadata=named("_key"))
    certificate: str
