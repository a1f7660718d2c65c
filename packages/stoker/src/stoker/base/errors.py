"""The tree of Stoker's errors. Only the class of an error decides who sees it and how.

    StokerError
    ├── UserError            the request cannot be carried out; the message is shown as written, 4xx
    │   ├── Invalid          400: TemplateInvalid, NotSupported, RequestLimitExceeded …
    │   ├── TokenRejected    401
    │   ├── Forbidden        403
    │   ├── NotFound         404: EntityNotFound, ResourceNotFound, SnapshotNotFound …
    │   └── Conflict         409: StackExists, ActionInProgress, StackLocked
    ├── CloudError           a call to a service failed; keeps the service's own message
    ├── ReleaseMismatch      503: a process of another release sent what this release does not know
    ├── AnswerMismatch       503: a process of another release gave an answer that this release does not understand
    ├── Fenced               another engine has taken over the operation; stop silently
    └── Bug                  an internal invariant is broken; the user gets a reference number

`kind` is the name that the REST API sends as `error.type`; it is the class name unless a class overrides it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stoker.base.diagnostics import Diagnostic


class StokerError(Exception):
    """Root of the tree. `message` consists of complete sentences without secrets."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def kind(self) -> str:
        """The error's name in API responses."""
        return type(self).__name__

    def to_dict(self) -> dict[str, object]:
        """Return plain data from which `from_dict` builds an equal error on the other side of a transport."""
        return {"kind": type(self).__name__, "message": self.message}

    @classmethod
    def _restore(cls, data: Mapping[str, Any]) -> StokerError:
        return cls(data["message"])


class UserError(StokerError):
    """The request cannot be carried out; the message is for the user who sent it."""

    status: ClassVar[int] = 400


class PreflightFailed(UserError):
    """An operation was refused before its first change, since something is known to fail; the message lists all."""


class PolicyDenied(UserError):
    """An operation was refused because of a policy on plans; the message lists all results, with their codes."""


class Invalid(UserError):
    """The request is malformed or contradictory."""


class BadValue(Invalid):
    """A value of the request has the wrong form. The API reports it as `ValueError`, as Heat does."""

    @property
    def kind(self) -> str:
        return "ValueError"


class TemplateInvalid(Invalid):
    """A template or its environment has errors. Holds all diagnostics, sorted."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(diagnostic.text() for diagnostic in self.diagnostics))

    @property
    def kind(self) -> str:
        return self.diagnostics[0].kind if self.diagnostics else "StackValidationFailed"

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": "TemplateInvalid",
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }

    @classmethod
    def _restore(cls, data: Mapping[str, Any]) -> StokerError:
        return cls([Diagnostic.from_dict(item) for item in data["diagnostics"]])


class StackValidationFailed(Invalid):
    """The stack cannot be created or updated as requested, for a reason outside the template's text."""


class NotSupported(Invalid):
    """Stoker, the resource type or the current state does not support the action."""


class RequestLimitExceeded(Invalid):
    """A quota or a size limit would be exceeded."""


class BudgetExceeded(RequestLimitExceeded):
    """The work for a request or operation exceeds its budget; the API reports `RequestLimitExceeded`."""

    @property
    def kind(self) -> str:
        return RequestLimitExceeded.__name__


class DownloadLimitExceeded(Invalid):
    """A document that a request refers to is larger than the limit for downloads."""


class Overloaded(StokerError):
    """The limit of concurrent work of this kind, for the caller or in total, is reached; a later retry may succeed."""


class DatabaseUnavailable(StokerError):
    """The database can currently not be read or written: its disk is full, its file damaged or not writable."""

    @property
    def kind(self) -> str:
        return "ServiceUnavailable"


class ImmutableParameterModified(Invalid):
    """An update changes the value of a parameter that is declared immutable."""


class MissingCredentialError(Invalid):
    """The request lacks a credential that is needed to act later on the user's behalf."""


class ResourceActionNotSupported(Invalid):
    """The resource's type does not support the action."""


class PhysicalResourceIDAmbiguity(Invalid):
    """More than one resource has the physical ID."""


class InvalidBreakPointHook(Invalid):
    """The hook does not exist or is not set."""


class ResourceTypeUnavailable(Invalid):
    """The service that a resource type needs is not in the caller's catalog."""


class TokenRejected(UserError):
    """The identity service does not accept the caller's token any more, for example because it was revoked."""

    status = 401

    @property
    def kind(self) -> str:
        return "HTTPUnauthorized"


class Forbidden(UserError):
    """The caller is not allowed to do this."""

    status = 403


class NotFound(UserError):
    """The requested object does not exist, or is not visible to the caller."""

    status = 404


class EntityNotFound(NotFound):
    """A stack, resource type, event, configuration … does not exist."""


class ResourceNotFound(NotFound):
    """The stack has no resource with this name."""


class ResourceNotAvailable(NotFound):
    """The resource is in the template but has not been created yet."""


class SnapshotNotFound(NotFound):
    """The stack has no such snapshot."""


class Conflict(UserError):
    """The current state does not allow the request."""

    status = 409


class StackExists(Conflict):
    """The project already has a stack with this name."""


class PlanOutdated(Conflict):
    """A saved plan differs from what an update would do now."""


class ActionInProgress(Conflict):
    """Another action on the stack is in progress."""


class StackLocked(Conflict):
    """A user has locked the stack."""


class ApprovalRequired(Conflict):
    """Other people must approve the change first: its stack, project, operator, or a policy on plans requires that."""


class ChangeWindowClosed(Conflict):
    """Changes are not allowed now, since no window is open or a freeze lasts."""


class CloudError(StokerError):
    """A call to a service failed.

    `service` is the plugin name (`nova`, `neutron`, …), `status` the HTTP status (0 without a response), `reason` the
    service's own message, `request_id` its `x-openstack-request-id` if any. `transient` means that the same call may
    succeed later; `lasting` that it fails again until something else is changed (a quota, a name that is taken).
    Together with `conflict`, which implies neither, they decide about retries, of which there are at most
    `most_attempts`, after up to `longest_backoff` seconds each.
    """

    most_attempts = 120
    longest_backoff = 30.0

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
    def without_answer(self) -> bool:
        """The service failed or did not respond, so nothing is known about the object of the request."""
        return self.status == 0 or (self.status >= 500 and self.status != 501)

    @property
    def not_found(self) -> bool:
        """The service says that the object of the request does not exist (404)."""
        return self.status == 404

    @property
    def conflict(self) -> bool:
        """The object's current state does not allow the call (409)."""
        return self.status == 409

    def to_dict(self) -> dict[str, object]:
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


class UnrelatedNotFound(CloudError):
    """Something was not found (404), but not the object of the request: nothing is known about that."""

    @property
    def not_found(self) -> bool:
        return False


class NoEndpoint(UnrelatedNotFound):
    """The catalog has no endpoint of the service."""


class LoginFailed(UnrelatedNotFound):
    """The identity service issues no token, whatever its status."""


class Unconfirmed(UnrelatedNotFound):
    """A service responded with 404, but not that the object of the request does not exist (`stoker.cloud.absence`).

    A service that restarts does so for objects that exist, so the request is retried for a few minutes: often, since
    the first response of the restarted service decides.
    """

    most_attempts = 24
    longest_backoff = 10.0

    def __init__(self, service: str, reason: str, request_id: str | None = None) -> None:
        prefix = f"{reason.rstrip('.')}; " if reason else ""
        explained = f"{prefix}{service} does not name the object, so it is unknown whether it exists"
        super().__init__(service, 404, explained, request_id=request_id, transient=True)

    @property
    def kind(self) -> str:
        return "Unconfirmed"


class ReleaseMismatch(StokerError):
    """A process of another release sent a request that this release cannot carry out; nothing was changed.

    `problem` says what is wrong (`stoker.contract.request.Problem`), `method` and `argument` where. `release` is the
    release of the process that received the request, `sender` that of the one that sent it (empty if unknown).
    """

    def __init__(self, problem: str, method: str, argument: str, release: str, sender: str) -> None:
        self.problem = problem
        self.method = method
        self.argument = argument
        self.release = release
        self.sender = sender
        place = f"{method}, {argument}" if argument else method
        super().__init__(
            f"The request needs processes of the same release: an engine of release {release} received a call from "
            f"{f'release {sender}' if sender else 'an unknown release'} that it cannot carry out "
            f"({problem}: {place}). Nothing was changed. Retry when the upgrade of the service is complete."
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": "ReleaseMismatch",
            "message": self.message,
            "problem": self.problem,
            "method": self.method,
            "argument": self.argument,
            "release": self.release,
            "sender": self.sender,
        }

    @classmethod
    def _restore(cls, data: Mapping[str, Any]) -> StokerError:
        return cls(data["problem"], data["method"], data["argument"], data["release"], data["sender"])


class AnswerMismatch(StokerError):
    """A process of another release gave an answer that this release does not understand, or it arrived damaged.

    What was requested may have been carried out.
    """


class Fenced(StokerError):
    """This engine no longer owns the operation for which it tried to write."""


class Bug(StokerError):
    """An internal invariant is broken. It is logged in full; the user sees only `reference`."""

    def __init__(self, message: str, reference: str = "") -> None:
        super().__init__(message)
        self.reference = reference


def forget_frames(error: BaseException) -> None:
    """Release what the frames refer to that an error passed through, when it has been reported.

    A frame that refers to the error, such as that of a function that raises what it was given, is otherwise in a
    reference cycle with it. The garbage collector counts objects, not bytes: it would come late, and each refused
    request would keep its body in memory until then.
    """
    pending: list[BaseException | None] = [error]
    while pending:
        found = pending.pop()
        if found is not None and found.__traceback__ is not None:
            found.__traceback__ = None
            pending += (found.__cause__, found.__context__)


def _tree(cls: type[StokerError]) -> dict[str, type[StokerError]]:
    found = {cls.__name__: cls}
    for child in cls.__subclasses__():
        found.update(_tree(child))
    return found


def from_dict(data: Mapping[str, object]) -> StokerError:
    """Return the error that `to_dict` described; an unknown name becomes a `Bug` with the same message."""
    cls = _tree(StokerError).get(str(data.get("kind")), Bug)
    return cls._restore({"message": "", **data})
