"""The caller of a request: the identity that is passed along from the API to the last cloud call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any


def is_denied(type_name: str, denied_types: Collection[str]) -> bool:
    """Return whether `denied_types` contains the resource type, or the wildcard of its namespace."""
    namespace, _, _ = type_name.rpartition("::")
    return type_name in denied_types or f"{namespace}::*" in denied_types


@dataclass(frozen=True)
class RequestContext:
    """The caller of one request, as the identity service confirmed it.

    `token` is passed along but never stored or logged; `repr` omits it. `is_admin` is the result of the policy rule
    `context_is_admin`. `denied_types` are the resource types and wildcards (`OS::Keystone::*`) that the policy rules
    `resource_types:*` deny to the caller. `client_request_token` is what the caller calls the request, if anything.
    """

    request_id: str
    user_id: str
    user_name: str
    project_id: str
    project_name: str = ""
    user_domain_id: str = ""
    project_domain_id: str = ""
    roles: tuple[str, ...] = ()
    is_admin: bool = False
    token: str = field(default="", repr=False)
    trust_id: str | None = None
    region: str | None = None
    denied_types: tuple[str, ...] = ()
    client_request_token: str | None = None

    def may_use(self, type_name: str) -> bool:
        """Return False when policy denies the resource type, by its name or by its namespace's wildcard."""
        return not is_denied(type_name, self.denied_types)

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON data from which `from_dict` builds an equal context. It contains the token."""
        return {**vars(self), "roles": list(self.roles), "denied_types": list(self.denied_types)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RequestContext:
        """Return the context that `to_dict` described; keys added by a newer release are ignored."""
        values = {item.name: data[item.name] for item in fields(cls) if item.name in data}
        return cls(
            **{
                **values,
                "roles": tuple(values.get("roles", ())),
                "denied_types": tuple(values.get("denied_types", ())),
            }
        )
