"""The context of a stack's owner, as plug-ins expect it: calls from a worker thread to the engine's `Cloud`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cached_property
from typing import Any, TypeVar

from keystoneauth1 import plugin, session

from stoker.cloud.session import Cloud

Result = TypeVar("Result")

LONGEST_CALL = 600.0
"""Seconds after which a call of the engine that does not return fails."""


class Bridge:
    """Runs coroutines of the engine for a worker thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of a coroutine on the engine's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LONGEST_CALL)


class OwnerAuth(plugin.BaseAuthPlugin):
    """The login of the stack's owner, for keystoneauth's sessions."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context

    def get_token(self, session: object, **_other: object) -> str:
        return self._context.auth_token

    def get_endpoint(
        self,
        session: Any,
        service_type: str | None = None,
        interface: Any = None,
        region_name: str | None = None,
        **_other: Any,
    ) -> str | None:
        if interface is plugin.AUTH_INTERFACE:
            return self._context.auth_url
        chosen = interface[0] if isinstance(interface, list | tuple) and interface else interface
        return self._context.endpoint_or_none(service_type or "", chosen, region_name)

    def get_project_id(self, session: object, **_other: object) -> str | None:
        return self._context.project_id

    def get_user_id(self, session: object, **_other: object) -> str | None:
        return self._context.user_id


class Context:
    """Who acts, with which token. Attributes have the names that plug-ins use."""

    trust_id = None
    is_admin = False
    username = None
    password = None

    def __init__(self, cloud: Cloud, bridge: Bridge) -> None:
        from heat.engine.clients import Clients

        self._cloud, self._bridge = cloud, bridge
        self.auth_url = cloud.auth_url
        self.project_id = self.tenant_id = self.tenant = cloud.project_id
        self.user_id = self.user = cloud.user_id
        self.roles = list(cloud.role_names)
        self.region_name = cloud.region
        self.clients = Clients(self)

    @property
    def auth_token(self) -> str:
        """A token that is valid for a minute at least."""
        return self._bridge.run(self._cloud.token())

    @property
    def auth_plugin(self) -> OwnerAuth:
        """The login, for clients that take one."""
        return OwnerAuth(self)

    @cached_property
    def keystone_session(self) -> session.Session:
        """A session with the login, for clients that take one."""
        tls = self._cloud.endpoints.settings("keystone").tls
        verify = False if tls.insecure else (tls.ca_file or True)
        cert = (tls.cert_file, tls.key_file) if tls.cert_file and tls.key_file else tls.cert_file
        return session.Session(auth=self.auth_plugin, verify=verify, cert=cert)

    def client_option(self, client: str, option: str) -> object:
        """Return an option of `[clients_<client>]`, or of `[clients]`."""
        return getattr(self._cloud.endpoints.settings(client), option)

    def endpoint_or_none(self, service_type: str, interface: str | None, region: str | None = None) -> str | None:
        """Return the URL of a service from the catalog, None if it has none."""
        return self._cloud.endpoints.catalog_url(service_type, interface, region)

    def endpoint(self, service_type: str, interface: str | None) -> str:
        """Return the URL of a service. Raises LookupError if the catalog has none."""
        found = self.endpoint_or_none(service_type, interface)
        if found is None:
            raise LookupError(f"the catalog has no endpoint of a service of the type {service_type!r}")
        return found

    def find(self, finder: str, value: str) -> str:
        """Return the ID of an object. Raises NotNamed and Ambiguous."""
        return self._bridge.run(self._cloud.find(finder, value))

    def has_extension(self, service: str, alias: str) -> bool:
        """Return whether a service has loaded an API extension."""
        return self._bridge.run(self._cloud.has_extension(service, alias))

    def to_dict(self) -> dict[str, Any]:
        """Return what identifies the caller, without secrets."""
        return {"project_id": self.project_id, "user_id": self.user_id, "roles": self.roles, "auth_url": self.auth_url}
