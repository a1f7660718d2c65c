"""Who a call is made for. Plain values: equal credentials share a login, and secrets stay out of their text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TokenCredential:
    """The caller's own token, good for as long as Keystone says and never renewed.

    `catalog` is the JSON text of the `X-Service-Catalog` header; with it and `user_id` no call is needed to use the
    token, without them Keystone is asked once.
    """

    token: str = field(repr=False)
    project_id: str | None = None
    user_id: str | None = None
    role_names: tuple[str, ...] = ()
    catalog: str | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class TrustCredential:
    """The service user, acting for the user who made the trust."""

    trust_id: str


@dataclass(frozen=True, slots=True)
class ServiceCredential:
    """The service user itself."""


@dataclass(frozen=True, slots=True)
class StackDomainAdmin:
    """The user who manages the domain of stacks' own projects and users."""


@dataclass(frozen=True, slots=True)
class CloudsYamlCredential:
    """A cloud of the `clouds.yaml` on this machine, by its name there."""

    cloud_name: str


@dataclass(frozen=True, slots=True)
class StackUserCredential:
    """A user that a stack made for one of its resources, at the operator's own Keystone."""

    user_id: str
    password: str = field(repr=False)
    project_id: str = ""


@dataclass(frozen=True, slots=True)
class PluginCredential:
    """A login at a cloud that a user names, by one of keystoneauth's plug-ins with its options; make it with `of`.

    `ca_cert` is PEM text of the authority that signed the remote cloud's certificates.
    """

    auth_type: str
    auth: str = field(repr=False)
    ca_cert: str | None = field(default=None, repr=False)
    insecure: bool = False

    @classmethod
    def of(
        cls, auth_type: str, auth: Mapping[str, Any], ca_cert: str | None = None, insecure: bool = False
    ) -> PluginCredential:
        """A credential from a plug-in's name (`v3applicationcredential`) and its options by name."""
        return cls(auth_type, json.dumps(auth, sort_keys=True), ca_cert, insecure)

    def options(self) -> dict[str, Any]:
        """The plug-in's options by name."""
        options: dict[str, Any] = json.loads(self.auth)
        return options


Credential = (
    TokenCredential
    | TrustCredential
    | ServiceCredential
    | StackDomainAdmin
    | StackUserCredential
    | CloudsYamlCredential
    | PluginCredential
)
"""Everything a `Cloud` can be opened with."""
