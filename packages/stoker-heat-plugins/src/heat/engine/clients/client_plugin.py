"""The base class of client plug-ins: how to make the client of a service, and what its exceptions mean."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from stoker_heat_plugins.names import CLIENT_OPTIONS


class ClientPlugin:
    """Derive from this class, define `_create`, and register the class in the group `heat.clients`."""

    exceptions_module: Any = None
    service_types: Sequence[str] = ()

    def __init__(self, context: Any) -> None:
        self.context = context
        self._made: dict[Any, Any] = {}

    @property
    def clients(self) -> Any:
        """The other clients of the stack."""
        return self.context.clients

    @property
    def auth_token(self) -> str:
        """A token of the stack's owner."""
        return str(self.context.auth_token)

    @property
    def _keystone_session(self) -> object:
        return self.context.keystone_session

    def client(self, version: Any = None) -> Any:
        """Return the client, which is made when it is needed first."""
        if version not in self._made:
            self._made[version] = self._create(version=version) if version is not None else self._create()
        return self._made[version]

    def invalidate(self) -> None:
        """Make new clients when they are needed next."""
        self._made.clear()

    def _create(self, version: Any = None) -> object:
        raise NotImplementedError(f"{type(self).__name__} does not define _create")

    def url_for(self, service_type: str = "", endpoint_type: str | None = None, **_other: Any) -> str:
        """Return the URL of a service from the catalog."""
        return str(self.context.endpoint(service_type, endpoint_type))

    def does_endpoint_exist(self, service_type: str, service_name: str = "") -> bool:
        """Return whether the catalog has the service."""
        return self.context.endpoint_or_none(service_type, None) is not None

    def _get_client_option(self, client: str, option: str) -> object:
        if option not in CLIENT_OPTIONS:
            raise LookupError(f"there is no option {option!r} of clients; the options are {', '.join(CLIENT_OPTIONS)}")
        return self.context.client_option(client, option)

    def _get_client_args(self, service_name: str, service_type: str) -> dict[str, object]:
        """Return the arguments that most clients take."""
        return {
            "auth_url": self.context.auth_url,
            "service_type": service_type,
            "token": self.auth_token,
            "endpoint_type": self._get_client_option(service_name, "endpoint_type"),
            "cacert": self._get_client_option(service_name, "ca_file"),
            "insecure": self._get_client_option(service_name, "insecure"),
        }

    # -- what exceptions mean -----------------------------------------------------------------------------------

    def is_client_exception(self, ex: BaseException) -> bool:
        """Return whether the exception is one of the client's."""
        modules = self.exceptions_module
        if isinstance(modules, ModuleType):
            modules = [modules]
        return any(
            isinstance(ex, kind)
            for module in modules or ()
            for kind in vars(module).values()
            if isinstance(kind, type) and issubclass(kind, Exception)
        )

    def is_not_found(self, ex: BaseException) -> bool:
        """Return whether the exception means that the object does not exist."""
        return bool(_status(ex) == 404)

    def is_over_limit(self, ex: BaseException) -> bool:
        """Return whether the exception means that a limit is exceeded."""
        return bool(_status(ex) == 413)

    def is_conflict(self, ex: BaseException) -> bool:
        """Return whether the exception means a conflict."""
        return bool(_status(ex) == 409)

    def is_bad_request(self, ex: BaseException) -> bool:
        """Return whether the service refused the request as malformed."""
        return bool(_status(ex) == 400)

    def is_unprocessable_entity(self, ex: BaseException) -> bool:
        """Return whether the service could not process the request."""
        return bool(_status(ex) == 422)

    def ignore_not_found(self, ex: BaseException) -> None:
        """Raise the exception unless it means that the object does not exist."""
        if not self.is_not_found(ex):
            raise ex

    def ignore_conflict_and_not_found(self, ex: BaseException) -> None:
        """Raise the exception unless it means a conflict, or that the object does not exist."""
        if not (self.is_conflict(ex) or self.is_not_found(ex)):
            raise ex


def _status(ex: BaseException) -> object:
    """Return the HTTP status that an exception of a client names; None if it names none."""
    for name in ("status_code", "http_status", "code"):
        status = getattr(ex, name, None)
        if isinstance(status, int):
            return status
    return None
