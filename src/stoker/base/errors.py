"""Every error of Stoker is a node of this tree, and only its class decides who sees it and how.

    StokerError
    ├── UserError            what the caller asked cannot be done; shown as written, 4xx
    │   ├── Invalid          400: TemplateInvalid, NotSupported, RequestLimitExceeded …
    │   ├── Forbidden        403
    │   ├── NotFound         404: EntityNotFound, ResourceNotFound, SnapshotNotFound …
    │   └── Conflict         409: StackExists, ActionInProgress
    ├── CloudError           a call to a service failed; keeps the service's own words
    ├── Fenced               another engine has taken the operation over; stop quietly
    └── Bug                  a broken invariant of ours; the user gets a reference number

`kind` is the name that goes on the wire as `error.type` (facts: rest_api.json, exceptions); it is the
class name unless a class says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stoker.base.diagnostics import Diagnostic


class StokerError(Exception):
    """Root of the tree. `message` is complete sentences in plain words, without secrets."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def kind(self) -> str:
        """Name of the error on the wire."""
        return type(self).__name__

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `from_dict` builds an equal error on the other side of a transport."""
        return {"kind": type(self).__name__, "message": self.message}

    @classmethod
    def _restore(cls, data: Mapping[str, Any]) -> StokerError:
        return cls(data["message"])


class UserError(StokerError):
    """The request cannot be carried out as it was made; the message is for the person who made it."""

    status: ClassVar[int] = 400


class Invalid(UserError):
    """The request is not well-formed or asks for something that makes no sense."""


class BadValue(Invalid):
    """A value of the request has the wrong form. On the wire `ValueError`, as Heat's clients know it."""

    @property
    def kind(self) -> str:
        return "ValueError"


class TemplateInvalid(Invalid):
    """A template or its environment has problems: all of them, sorted, each with its place."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(diagnostic.text() for diagnostic in self.diagnostics))

    @property
    def kind(self) -> str:
        return self.diagnostics[0].kind if self.diagnostics else "StackValidationFailed"

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "TemplateInvalid",
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }

    @classmethod
    def _restore(cls, data: Mapping[str, Any]) -> StokerError:
        return cls([Diagnostic.from_dict(item) for item in data["diagnostics"]])


class StackValidationFailed(Invalid):
    """A stack could not be made from the request, for a reason outside the template's text."""


class NotSupported(Invalid):
    """Stoker, this resource type or this state does not allow the action."""


class RequestLimitExceeded(Invalid):
    """A quota or a size limit would be passed."""


class BudgetExceeded(RequestLimitExceeded):
    """The work for a request or an operation costs more than it may; on the wire `RequestLimitExceeded`."""

    @property
    def kind(self) -> str:
        return RequestLimitExceeded.__name__


class DownloadLimitExceeded(Invalid):
    """What a request names is larger than may be fetched."""


class Overloaded(StokerError):
    """The service already does as much of this for the caller, or for all, as it may at a time; later it can."""


class DatabaseUnavailable(StokerError):
    """The database can store, or read, nothing now: its disk is full, its file damaged or not writable."""

    @property
    def kind(self) -> str:
        return "ServiceUnavailable"


class ImmutableParameterModified(Invalid):
    """An update gives another value to a parameter that is declared immutable."""


class MissingCredentialError(Invalid):
    """The request lacks what is needed to act later on the user's behalf."""


class ResourceActionNotSupported(Invalid):
    """The resource's type has no such action."""


class PhysicalResourceIDAmbiguity(Invalid):
    """More than one resource has this physical id."""


class InvalidBreakPointHook(Invalid):
    """There is no such hook, or it is not set."""


class ResourceTypeUnavailable(Invalid):
    """The service behind a resource type is not in the caller's catalog."""


class Forbidden(UserError):
    """The caller may not do this."""

    status = 403


class NotFound(UserError):
    """What the request names does not exist, or is not the caller's to know of."""

    status = 404


class EntityNotFound(NotFound):
    """No such stack, resource type, event, config …"""


class ResourceNotFound(NotFound):
    """The stack has no resource of this name."""


class ResourceNotAvailable(NotFound):
    """The resource exists in the template, and has not been made yet."""


class SnapshotNotFound(NotFound):
    """The stack has no such snapshot."""


class Conflict(UserError):
    """The state of things does not allow the request now."""

    status = 409


class StackExists(Conflict):
    """The project has a stack of this name."""


class PlanOutdated(Conflict):
    """A saved plan is not what would be done now."""


class ActionInProgress(Conflict):
    """The stack is busy with another action."""


class CloudError(StokerError):
    """A call to a service failed.

    `service` is the plugin name (`nova`, `neutron`, …), `status` the HTTP status (0 when no answer came),
    `reason` the service's own words, `request_id` its `x-openstack-request-id` if it gave one.
    `transient` says that the same call may succeed later, `lasting` that it is refused again as long as nobody changes
    what is there (a quota, a name that is taken). With `conflict`, which says neither, they decide about retries.
    """

    def __init__(
        self,
        service: str,
        status: int,
        reason: str,
        *,
        request_id: str | None = None,
        transient: bool = False,
        lasting: bool = False,
        retry_after: float | None = None,
    ) -> None:
        self.service = service
        self.status = status
        self.reason = reason
        self.request_id = request_id
        self.transient = transient
        self.lasting = lasting
        self.retry_after = retry_after
        trailer = f" (HTTP {status})" if status else ""
        request = f" (Request-ID: {request_id})" if request_id else ""
        super().__init__(f"{reason}{trailer}{request}")

    @property
    def kind(self) -> str:
        return _CLOUD_KINDS.get(self.status, "ServiceUnavailable" if self.transient else "CloudError")

    @property
    def not_found(self) -> bool:
        """The service does not know the object (404)."""
        return self.status == 404

    @property
    def conflict(self) -> bool:
        """The object's state forbids the call for now (409)."""
        return self.status == 409

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "CloudError",
            "service": self.service,
            "status": self.status,
            "reason": self.reason,
            "request_id": self.request_id,
            "transient": self.transient,
            "lasting": self.lasting,
        }

    @classmethod
    def _restore(cls, data: Mapping[str, Any]) -> StokerError:
        return cls(
            data["service"],
            data["status"],
            data["reason"],
            request_id=data["request_id"],
            transient=data["transient"],
            lasting=data.get("lasting", False),
        )


_CLOUD_KINDS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    413: "OverLimit",
    429: "OverLimit",
}


class Fenced(StokerError):
    """This engine no longer owns the operation it tried to write for."""


class Bug(StokerError):
    """An invariant of Stoker is broken. Logged in full; the user sees `reference` and no more."""

    def __init__(self, message: str, reference: str = "") -> None:
        super().__init__(message)
        self.reference = reference


def _tree(cls: type[StokerError]) -> dict[str, type[StokerError]]:
    found = {cls.__name__: cls}
    for child in cls.__subclasses__():
        found.update(_tree(child))
    return found


def from_dict(data: Mapping[str, Any]) -> StokerError:
    """The error that `to_dict` described; an unknown name becomes a `Bug` with the same message."""
    cls = _tree(StokerError).get(str(data.get("kind")), Bug)
    return cls._restore({"message": "", **data})
