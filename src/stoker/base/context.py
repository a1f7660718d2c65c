"""Who asks: the identity that travels with every request, from the API's edge to the last cloud call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class RequestContext:
    """The caller of one request, as the identity service confirmed it.

    `token` travels and is never stored or logged: it is left out of `repr`. `is_admin` is the outcome of the
    policy rule `context_is_admin`. `denied_types` are the resource types and wildcards (`OS::Keystone::*`) that the
    policy rules `resource_types:*` refuse to the caller.
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

    def may_use(self, type_name: str) -> bool:
        """False when policy refuses the resource type, by its name or by its namespace's wildcard.

        Source: facts policies.json, resource_type_rules.
        """
        namespace, _, _ = type_name.rpartition("::")
        return type_name not in self.denied_types and f"{namespace}::*" not in self.denied_types

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data from which `from_dict` builds an equal context. Holds the token."""
        return {**vars(self), "roles": list(self.roles), "denied_types": list(self.denied_types)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RequestContext:
        """The context that `to_dict` described; keys that a newer release added are left out."""
        values = {item.name: data[item.name] for item in fields(cls) if item.name in data}
        return cls(
            **{
                **values,
                "roles": tuple(values.get("roles", ())),
                "denied_types": tuple(values.get("denied_types", ())),
            }
        )
