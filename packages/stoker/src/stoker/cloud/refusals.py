"""What the error responses of each service mean for retries: data, by status and by the service's error code.

Sources are RFC 9110 (a 413 with `Retry-After` is temporary) and the services' API references. Cinder returns 413
`overLimit` for a quota, with `Retry-After: 0`; rate limiters in front of Nova and Cinder return the seconds to wait.
Nova returns 403 for most quotas; Neutron 409 with the type `OverQuota`; Swift 413 for a quota and 498 for its rate
limit; Keystone 409 for a name that is in use and 403 for a limit; Glance 413 for a limit. Trove returns 413 for a quota
and for its rate limit; only the latter can affect a GET.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """Why a service refused a request."""

    BUSY = "busy"
    """The service is temporarily unable: the same request may succeed later."""
    STATE = "state"
    """The state of an object does not allow it, which may change, for example when the object is no longer in use."""
    LASTING = "lasting"
    """The request conflicts with existing objects: the same request fails again."""
    LIMIT = "limit"
    """It exceeds a quota or limit, which waiting does not change."""
    OTHER = "other"
    """The request is invalid, or its sender is not authorized."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The meaning of a status.

    With `codes` it applies only to these error codes, with `phrases` only to messages that contain one of them in any
    case, with `method` and `path` (the end of the URL's path) only to responses to such requests, with `waits` only
    when the service states how long to wait.
    """

    status: int
    cause: Cause
    codes: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    method: str = ""
    path: str = ""
    waits: bool = False

    def applies(
        self, status: int, code: str | None, message: str, method: str, path: str, retry_after: float | None
    ) -> bool:
        """Return whether the rule applies to this response."""
        return (
            status == self.status
            and (not self.codes or code in self.codes)
            and (not self.phrases or any(phrase in message.lower() for phrase in self.phrases))
            and (not self.method or method == self.method)
            and (not self.path or re.search(f"{self.path}/?$", path) is not None)
            and (not self.waits or bool(retry_after))
        )


_UNAVAILABLE = ("unavailable at this time", "temporarily unavailable", "service is unavailable", "service unavailable")
"""Parts of messages about a service that does not run, such as a compute host's. Nova has no error codes, and responds
with 409 or 400: "Service is unavailable at this time.", "Compute service of host1 is unavailable at this time.".
"""

_FIRST = (Rule(409, Cause.BUSY, phrases=_UNAVAILABLE), Rule(400, Cause.BUSY, phrases=_UNAVAILABLE))

_COMMON = (
    Rule(429, Cause.BUSY),
    Rule(502, Cause.BUSY),
    Rule(503, Cause.BUSY),
    Rule(504, Cause.BUSY),
    Rule(413, Cause.BUSY, waits=True),
    Rule(413, Cause.LIMIT),
    Rule(409, Cause.STATE),
)

RULES: Mapping[str, Sequence[Rule]] = {
    "neutron": (
        Rule(409, Cause.LIMIT, frozenset({"OverQuota", "SubnetPoolQuotaExceeded"})),
        Rule(409, Cause.BUSY, frozenset({"RetryRequest"})),
        Rule(
            409,
            Cause.LASTING,
            frozenset(
                {
                    "AddressPairAndPortSecurityRequired",
                    "DuplicateDBEntry",
                    "FloatingIPPortAlreadyAssociated",
                    "GatewayConflictWithAllocationPools",
                    "InvalidSharedSetting",
                    "IpAddressAlreadyAllocated",
                    "MacAddressInUse",
                    "NetworkMTUSubnetConflict",
                    "OverlappingAllocationPools",
                    "PortSecurityPortHasSecurityGroup",
                    "QoSRuleParameterConflict",
                    "SecurityGroupCannotRemoveDefault",
                    "SecurityGroupCannotUpdateDefault",
                    "SecurityGroupDefaultAlreadyExists",
                    "SecurityGroupRuleExists",
                    "SubPortMtuGreaterThanTrunkPortMtu",
                }
            ),
        ),
    ),
    "nova": (Rule(409, Cause.LASTING, method="POST", path=r"/(servers|os-keypairs|flavors|os-aggregates)"),),
    "cinder": (Rule(409, Cause.LASTING, method="POST", path=r"/(types|group_types|qos-specs)"),),
    "keystone": (Rule(409, Cause.LASTING),),
    "glance": (Rule(409, Cause.LASTING, method="POST", path=r"/(images|members)"),),
    "trove": (Rule(413, Cause.BUSY, method="GET"),),
    "swift": (Rule(498, Cause.BUSY), Rule(507, Cause.BUSY)),
    "zaqar": (Rule(409, Cause.LASTING, path=r"/subscriptions(/[^/]+)?"),),
    "murano": (Rule(409, Cause.LASTING),),
    "congress": (Rule(409, Cause.LASTING),),
    "heat": (Rule(409, Cause.LASTING, frozenset({"StackExists"})),),
}
"""Rules of single services; the first that applies is used. They precede those in `_COMMON`, and follow `_FIRST`."""


def cause_of(
    service: str,
    status: int,
    body: object,
    *,
    message: str = "",
    method: str = "",
    path: str = "",
    retry_after: float | None = None,
) -> Cause:
    """Return why a service refused with this message.

    `retry_after` is the requested delay in seconds, None without one.
    """
    code = error_code(body)
    for rule in (*_FIRST, *RULES.get(service, ()), *_COMMON):
        if rule.applies(status, code, message, method, path, retry_after):
            return rule.cause
    return Cause.OTHER


def error_code(body: object) -> str | None:
    """Return the service's name of the error: Neutron's and Heat's `type`; otherwise the key of the message."""
    if not isinstance(body, Mapping):
        return None
    for key, inner in body.items():
        if isinstance(inner, Mapping):
            kind = inner.get("type")
            return kind if isinstance(kind, str) else str(key)
    return None
