"""The exceptions that plug-ins raise, catch and derive from."""

from __future__ import annotations

from typing import Any


class HeatException(Exception):
    """Base of the exceptions whose message is `msg_fmt`, filled with keyword arguments."""

    msg_fmt = "An unknown exception occurred."
    error_code: str | None = None
    safe = True

    def __init__(self, **kwargs: Any) -> None:
        self.kwargs = kwargs
        try:
            self.message = self.msg_fmt % kwargs
        except KeyError:
            self.message = self.msg_fmt
        super().__init__(self.message)

    def __str__(self) -> str:
        return str(self.message)


class Error(HeatException):
    """An error with a message of the plug-in's own."""

    msg_fmt = "%(message)s"

    def __init__(self, msg: object = "") -> None:
        super().__init__(message=msg)


class NotFound(HeatException):
    msg_fmt = "%(msg)s"

    def __init__(self, msg_fmt: str | None = None, **kwargs: Any) -> None:
        if msg_fmt is not None:
            self.msg_fmt = msg_fmt
        super().__init__(**{"msg": "The object was not found.", **kwargs})


class EntityNotFound(NotFound):
    msg_fmt = "The %(entity)s (%(name)s) could not be found."

    def __init__(self, entity: str | None = None, name: str | None = None, **kwargs: Any) -> None:
        self.entity, self.name = entity, name
        super().__init__(entity=entity, name=name, **kwargs)


class ResourceNotFound(EntityNotFound):
    msg_fmt = "The resource %(resource_name)s could not be found in the stack %(stack_name)s."


class PhysicalResourceNotFound(NotFound):
    msg_fmt = "The resource %(resource_id)s could not be found."


class PhysicalResourceNameAmbiguity(HeatException):
    msg_fmt = "Several objects have the name %(name)s."


class PhysicalResourceExists(HeatException):
    msg_fmt = "The object %(name)s already exists."


class PhysicalResourceIDAmbiguity(HeatException):
    msg_fmt = "Several objects have the ID %(phys_id)s."


class Forbidden(HeatException):
    msg_fmt = "You are not authorized to use %(action)s."

    def __init__(self, action: str = "this action") -> None:
        super().__init__(action=action)


class NotAuthenticated(HeatException):
    msg_fmt = "You are not authenticated."


class AuthorizationFailure(HeatException):
    msg_fmt = "Authorization failed.%(failure_reason)s"

    def __init__(self, failure_reason: str = "") -> None:
        super().__init__(failure_reason=f" {failure_reason}" if failure_reason else "")


class NotSupported(HeatException):
    msg_fmt = "%(feature)s is not supported."


class InvalidTenant(HeatException):
    msg_fmt = "The project %(target)s is not the expected one, %(actual)s."


class InvalidGlobalResource(HeatException):
    msg_fmt = "The resource type %(type_name)s cannot be loaded."


class InvalidSchemaError(HeatException):
    msg_fmt = "%(message)s"


class InvalidTemplateAttribute(HeatException):
    msg_fmt = "The referenced attribute (%(resource)s %(key)s) is incorrect."


class InvalidTemplateReference(HeatException):
    msg_fmt = "The reference to %(resource)s in %(key)s is invalid."


class ImmutableParameterModified(HeatException):
    msg_fmt = "The parameter %(keys)s cannot be changed."


class PropertyUnspecifiedError(HeatException):
    """None of several properties is given, one of which is required."""

    def __init__(self, *names: str) -> None:
        self.msg_fmt = f"At least one of the following properties must be specified: {', '.join(names)}."
        super().__init__()


class ResourcePropertyConflict(HeatException):
    """Properties are given that exclude each other."""

    def __init__(self, *names: str, **kwargs: Any) -> None:
        self.msg_fmt = (
            kwargs.get("message") or f"Cannot define the following properties at the same time: {', '.join(names)}."
        )
        super().__init__(**kwargs)


class ResourcePropertyDependency(HeatException):
    msg_fmt = "%(prop1)s cannot be specified without %(prop2)s."


class ResourcePropertyValueDependency(HeatException):
    msg_fmt = "%(prop1)s can only be specified if %(prop2)s has the value %(value)s."


class PropertyRequired(HeatException):
    msg_fmt = "The property %(name)s is required."


class StackValidationFailed(HeatException):
    """The properties of a resource are invalid."""

    def __init__(
        self, error: object = "", path: Any = None, message: object = None, resource: object = None, **kwargs: Any
    ) -> None:
        self.error, self.path = error, path
        self.error_message = str(message or error)
        self.msg_fmt = "%(text)s"
        super().__init__(text=self.error_message, **kwargs)


class StackResourceLimitExceeded(HeatException):
    msg_fmt = "The stack has too many resources."


class RequestLimitExceeded(HeatException):
    msg_fmt = "The request exceeds a limit: %(message)s"


class ResourceInError(HeatException):
    """The service reports that the object is in an error state."""

    msg_fmt = 'Went to status %(resource_status)s due to "%(status_reason)s"'

    def __init__(self, status_reason: object = "Unknown", **kwargs: Any) -> None:
        super().__init__(status_reason=status_reason, **kwargs)


class ResourceUnknownStatus(HeatException):
    """The object is in a status that the plug-in does not know."""

    msg_fmt = '%(result)s - Unknown status %(resource_status)s due to "%(status_reason)s"'

    def __init__(self, result: str = "Resource failed", status_reason: object = "Unknown", **kwargs: Any) -> None:
        super().__init__(result=result, status_reason=status_reason, **kwargs)


class ResourceFailure(HeatException):
    """An action of a resource has failed, because of another exception or for a reason given as a string."""

    def __init__(self, exception_or_error: object, resource: object, action: str | None = None) -> None:
        self.exc = exception_or_error if isinstance(exception_or_error, BaseException) else None
        self.resource, self.action, self.path = resource, action, []  # type: ignore[var-annotated]
        self.error = type(self.exc).__name__ if self.exc is not None else None
        self.error_message = str(exception_or_error)
        self.msg_fmt = "%(reason)s"
        super().__init__(reason=self.error_message)


class ResourceNotAvailable(HeatException):
    msg_fmt = "The resource (%(resource_name)s) is not available."


class ResourceActionNotSupported(HeatException):
    msg_fmt = "The resource does not support %(action)s."


class ResourceActionRestricted(HeatException):
    msg_fmt = "%(action)s of the resource is restricted."


class ResourceTypeUnavailable(HeatException):
    msg_fmt = "The resource type %(resource_type)s is not available: %(reason)s"


class UpdateReplace(Exception):
    """The change requires that the resource is replaced."""

    def __init__(self, resource_name: object = "Unknown") -> None:
        super().__init__(f"The resource {resource_name} requires replacement.")


class UpdateInProgress(Exception):
    """An update of the resource is in progress."""

    def __init__(self, resource_name: object = "Unknown") -> None:
        super().__init__(f"An update of the resource {resource_name} is in progress.")
