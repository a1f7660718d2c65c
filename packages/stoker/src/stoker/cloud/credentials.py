"""Credentials of calls. Plain values: equal credentials share a login, and `repr` omits secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TokenCredential:
    """The caller's own token, valid until Keystone's expiry and never renewed.

    `catalog` is the JSON string of the `X-Service-Catalog` header; with it and `user_id` the token can be used without
    a call, otherwise Keystone is called once.
    """

    token: str = field(repr=False)
    project_id: str | None = None
    user_id: str | None = None
    role_names: tuple[str, ...] = ()
    catalog: str | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class TrustCredential:
    """The service user, acting on behalf of the user who created the trust."""

    trust_id: str


@dataclass(frozen=True, slots=True)
class ServiceCredential:
    """The service user itself."""


@dataclass(frozen=True, slots=True)
class StackDomainAdmin:
    """The user who manages the domain of stacks' own projects and users."""


@dataclass(frozen=True, slots=True)
class CloudsYamlCredential:
    """A cloud in the `clouds.yaml` on this machine, by name."""

    cloud_name: str


@dataclass(frozen=True, slots=True)
class StackUserCredential:
    """A user that a stack created for one of its resources, at the operator's own Keystone."""

    user_id: str
    password: str = field(repr=False)
    project_id: str = ""


@dataclass(frozen=True, slots=True)
class PluginCredential:
    """A login at a cloud that a user names, with a plug-in of keystoneauth and its options; create it with `of`.

    `ca_cert` is the certificate, in PEM format, of the authority that signed the remote cloud's certificates.
    `project_id` is the user's project in the operator's cloud, whose slots its logins and calls use.
    """

    auth_type: str
    auth: str = field(repr=False)
    ca_cert: str | None = field(default=None, repr=False)
    insecure: bool = False
    project_id: str = ""

    @classmethod
    def of(
        cls,
        auth_type: str,
        auth: Mapping[str, object],
        ca_cert: str | None = None,
        insecure: bool = False,
        project_id: str = "",
    ) -> PluginCredential:
        """Create a credential from a plug-in's name (`v3applicationcredential`) and its options by name."""
        return cls(auth_type, json.dumps(auth, sort_keys=True), ca_cert, insecure, project_id)

    def options(self) -> dict[str, Any]:
        """The plug-in's options by name."""
        options: dict[str, object] = json.loads(self.auth)
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
"""The credentials with which a `Cloud` can be opened."""
