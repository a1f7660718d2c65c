"""Tokens, renewed before they expire, and the endpoints of services in their catalogs.

keystoneauth is synchronous, and therefore runs on a thread.
"""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from keystoneauth1 import access as ksa_access
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1 import session as ksa_session
from keystoneauth1.access import service_catalog
from keystoneauth1.identity.base import BaseIdentityPlugin
from os_service_types import ServiceTypes

from stoker.base.errors import CloudError, LoginFailed, NoEndpoint, TokenRejected
from stoker.cloud.guard import is_refusal
from stoker.cloud.services import Service, identity_url, services
from stoker.cloud.settings import ClientSettings, CloudSettings
from stoker_foundation.clock import Clock

RENEW_BEFORE = 60.0
"""Seconds before its expiry at which a token is renewed."""
CATALOG_SECONDS = 60.0
"""Seconds after which a token is renewed again because its catalog lacks an endpoint."""

_TYPES = ServiceTypes()
"""Types of services and their aliases, as the service-types authority publishes them."""


_SPLIT = re.compile(r"(?P<root>.*?)(?:/(?P<version>v\d+(?:\.\d+)?)(?P<tail>(?:/.*)?))?")
_NAMES_VERSION = re.compile(r"/v\d+(\.\d+)?(/|$)")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The parts of a catalog URL: `http://host/volume`, `v3`, and the rest (`/<project>`)."""

    root: str
    version: str
    tail: str

    @classmethod
    def parse(cls, url: str, service: Service) -> Endpoint:
        """Parse a catalog URL, adding the service's version where the URL has none."""
        scheme, _, rest = url.rstrip("/").partition("://")
        found = _SPLIT.fullmatch(rest)
        if found is None:
            raise ValueError(f"{url!r} is not the URL of an endpoint")
        return cls(f"{scheme}://{found['root']}", found["version"] or service.version, found["tail"] or "")

    @property
    def url(self) -> str:
        """The URL that paths without a version are relative to."""
        return "/".join(part for part in (self.root, self.version) if part) + self.tail

    @property
    def version_url(self) -> str:
        """The URL of the version document of this version of the API."""
        return f"{self.root}/{self.version}/"

    def join(self, path: str) -> str:
        """Return the URL of `path`: below the root when it contains a version (`/v2.0/networks`), else below `url`."""
        if _NAMES_VERSION.match(path):
            return self.root + path
        return self.url + path


@dataclass(frozen=True, eq=False, slots=True)
class Access:
    """A token and its scope; `expires_at` is seconds since the epoch, None if unknown."""

    token: str = field(repr=False)
    catalog: service_catalog.ServiceCatalog = field(repr=False)
    expires_at: float | None = None
    project_id: str | None = None
    user_id: str | None = None
    role_names: tuple[str, ...] = ()

    def urls(self, service_type: str, interface: str | None, region: str | None) -> list[str]:
        """Return the catalog's URLs for a type of service or its aliases, by interface and region (None: any).

        keystoneauth copies the whole catalog for each lookup, which costs milliseconds. It gets only the entries of
        the service.
        """
        entries = [entry for entry in self.catalog.catalog if _TYPES.is_match(service_type, entry.get("type", ""))]
        try:
            found = type(self.catalog)(entries).get_urls(service_type, interface, region)
        except ValueError:  # what keystoneauth raises if aliases of the type are in the catalog, all without such URLs
            return []
        return [url for url in found if url is not None]

    def fresh(self, now: float) -> bool:
        """Return whether the token is valid for at least `RENEW_BEFORE` seconds."""
        return self.expires_at is None or self.expires_at - now > RENEW_BEFORE


class Login(ABC):
    """The source of a `Cloud`'s tokens. Concurrent calls share one request to Keystone."""

    def __init__(self, clock: Clock, auth_url: str) -> None:
        self.auth_url = auth_url
        self._clock = clock
        self._lock = asyncio.Lock()
        self._access: Access | None = None
        self._newer_after = 0.0

    async def access(self) -> Access:
        """Return a fresh token. Raises CloudError when Keystone refuses or cannot be reached."""
        current = self._access
        if current is not None and current.fresh(self._clock.now()):
            return current
        return await self.renew(current)

    async def renew(self, rejected: Access | None) -> Access:
        """Return another token than `rejected`, which a service did not accept or which is about to expire."""
        async with self._lock:
            if self._access is None or self._access is rejected:
                self._access = None
                self._access = await self._fetched()
            return self._access

    async def with_newer_catalog(self, lacking: Access) -> Access:
        """Return a token with a newer catalog than that of `lacking`, or `lacking` if it was renewed for this already.

        Services and regions are added while tokens are valid.
        """
        now = self._clock.now()
        if lacking is self._access and now < self._newer_after:
            return lacking
        self._newer_after = now + CATALOG_SECONDS
        return await self.renew(lacking)

    async def _fetched(self) -> Access:
        """Run `_fetch` on a worker thread."""
        return await asyncio.to_thread(self._fetch)

    @abstractmethod
    def _fetch(self) -> Access:
        """Request a token; called on a worker thread."""


class PluginLogin(Login):
    """A token from one of keystoneauth's plug-ins, renewed when needed.

    `make` creates the plug-in on a worker thread, because the constructors of some read files or call Keystone.
    """

    def __init__(
        self, clock: Clock, auth_url: str, session: ksa_session.Session, make: Callable[[], BaseIdentityPlugin]
    ) -> None:
        super().__init__(clock, auth_url)
        self._session = session
        self._make = make
        self._plugin: BaseIdentityPlugin | None = None

    def _fetch(self) -> Access:
        try:
            if self._plugin is None:
                self._plugin = self._make()
            self._plugin.invalidate()
            return _access(self._plugin.get_access(self._session))
        except ksa_errors.ClientException as error:
            raise cloud_error(error) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            problem = f"the response of {self.auth_url} is not that of an identity service: {type(error).__name__}"
            raise CloudError("keystone", 502, problem) from error


class TokenLogin(Login):
    """The caller's own token, which cannot be renewed. Keystone returns its scope."""

    def __init__(self, clock: Clock, auth_url: str, session: ksa_session.Session, token: str) -> None:
        super().__init__(clock, auth_url)
        self._session = session
        self._token = token

    @classmethod
    def known(cls, clock: Clock, auth_url: str, session: ksa_session.Session, access: Access) -> TokenLogin:
        """Create a login with a token whose scope and catalog are already known."""
        login = cls(clock, auth_url, session, access.token)
        login._access = access
        return login

    async def access(self) -> Access:
        return self._access or await super().access()

    async def with_newer_catalog(self, lacking: Access) -> Access:
        return lacking

    async def renew(self, rejected: Access | None) -> Access:
        """Return the caller's token. A token that a service has rejected raises TokenRejected if Keystone rejects it,
        too, otherwise CloudError: then the service is at fault, and another token would not help.
        """
        if rejected is None:
            return await super().renew(rejected)
        found = "although Keystone accepts it"
        try:
            await asyncio.to_thread(self._examine)
        except CloudError as error:
            if error.status != 403:  # a trust's token is accepted, but may not ask about itself
                found = f"and Keystone cannot be asked about it: {error.message}"
        raise CloudError("keystone", 401, f"a service rejects the token of the request, {found}")

    def _examine(self) -> Any:
        """Return what Keystone says about the token. Raises TokenRejected or CloudError."""
        return self._get("/auth/tokens", {"X-Subject-Token": self._token})

    def _fetch(self) -> Access:
        body = self._examine()
        return _access(ksa_access.create(body=body, auth_token=self._token))

    def _get(self, path: str, headers: Mapping[str, str]) -> Any:
        headers = {"X-Auth-Token": self._token, **headers}
        try:
            answer = self._session.get(f"{self.auth_url}{path}", headers=headers, authenticated=False, log=False)
        except (ksa_errors.NotFound, ksa_errors.Unauthorized) as error:
            raise TokenRejected("The token of the request has expired or was revoked; get a new one.") from error
        except ksa_errors.ClientException as error:
            raise cloud_error(error) from error
        return answer.json()


class CheckedTokenLogin(TokenLogin):
    """The caller's own token, which has been checked already: its scope is known, and only the catalog is requested.

    Keystone does not let the token of a trust ask about itself: it belongs to the trustee, and acts as the trustor.
    """

    def __init__(
        self, clock: Clock, auth_url: str, session: ksa_session.Session, scope: Callable[[object], Access], token: str
    ) -> None:
        super().__init__(clock, auth_url, session, token)
        self._scope = scope

    def _fetch(self) -> Access:
        return self._scope(self._get("/auth/catalog", {})["catalog"])


def _access(info: Any) -> Access:
    return Access(
        token=info.auth_token,
        catalog=info.service_catalog if info.has_service_catalog() else service_catalog.ServiceCatalogV3([]),
        expires_at=info.expires.timestamp(),
        project_id=info.project_id,
        user_id=info.user_id,
        role_names=tuple(info.role_names),
    )


def known_access(
    token: str, catalog: Any, project_id: str | None, user_id: str | None, roles: tuple[str, ...]
) -> Access:
    """Create an access from keystonemiddleware's data; `catalog` is a list of services in v2 or v3 format."""
    first: Mapping[str, Any] = next((endpoint for entry in catalog for endpoint in entry.get("endpoints", ())), {})
    version_2 = any(key.endswith("URL") for key in first)
    kind = service_catalog.ServiceCatalogV2 if version_2 else service_catalog.ServiceCatalogV3
    return Access(token, kind(catalog), None, project_id, user_id, roles)


def cloud_error(error: ksa_errors.ClientException) -> CloudError:
    """Convert an error of keystoneauth."""
    if isinstance(error, ksa_errors.HttpError):
        status = error.http_status
        return LoginFailed(
            "keystone",
            status,
            error.message or "Keystone gave no reason",
            request_id=error.request_id,
            transient=status in (429, 502, 503, 504),
        )
    unreachable = isinstance(error, ksa_errors.ConnectFailure | ksa_errors.ConnectTimeout)
    transient = unreachable and not is_refusal(error)
    return LoginFailed("keystone", 0, str(error) or type(error).__name__, transient=transient)


class Endpoints:
    """Where the services are for one credential in one region, and the token with which they are called.

    The catalog comes with the token: another token may have another catalog. `client` are settings for all services,
    None for those that the operator has given for each.
    """

    def __init__(
        self, login: Login, access: Access, settings: CloudSettings, region: str | None, client: ClientSettings | None
    ) -> None:
        self.login = login
        self.access = access
        self.region = region
        self.client = client
        self._settings = settings
        self._settings_for = cache(settings.client)
        self._known: dict[str, Endpoint | None] = {}

    async def current(self) -> Access:
        """Return a fresh token. Raises CloudError when Keystone refuses or cannot be reached."""
        return self._adopt(await self.login.access())

    async def renewed(self, rejected: Access) -> Access:
        """Return another token than the one that a service has rejected."""
        return self._adopt(await self.login.renew(rejected))

    def _adopt(self, access: Access) -> Access:
        if access is not self.access:
            self.access = access
            self._known.clear()
        return access

    def has(self, service: str) -> bool:
        """Return whether the catalog has the service, in this region, with the configured interface."""
        return self._of(services()[service]) is not None

    def of(self, service: str) -> Endpoint:
        """Return the endpoint of a service. Raises NoEndpoint."""
        endpoint = self._of(services()[service])
        if endpoint is None:
            where = f" in region {self.region}" if self.region else ""
            raise NoEndpoint(service, 404, f"the catalog has no endpoint of {service}{where}")
        return endpoint

    async def newest(self, service: str) -> Endpoint:
        """Return the endpoint of a service, which may have been added to the catalog since the token was issued.

        Raises NoEndpoint.
        """
        if self._of(services()[service]) is None:
            self._adopt(await self.login.with_newer_catalog(self.access))
        return self.of(service)

    def catalog_url(self, service_type: str, interface: str | None, region: str | None = None) -> str | None:
        """Return the URL that the catalog has for a type of service, as it is there; None if it has none.

        Without an interface, the configured one is used.
        """
        urls = self.access.urls(
            service_type,
            interface or self._settings.client("").endpoint_type,
            region or _region(self._settings, service_type, self.region),
        )
        return urls[0] if urls else None

    @property
    def server_auth_url(self) -> str:
        """Keystone's URL for servers, which the operator can configure separately."""
        chosen = self._settings.server_auth_url
        if self._settings.server_keystone_endpoint_type:
            region = _region(self._settings, "identity", self.region)
            urls = self.access.urls("identity", self._settings.server_keystone_endpoint_type, region)
            chosen = urls[0] if urls else chosen
        return identity_url(chosen) if chosen else self.login.auth_url

    def settings(self, service: str) -> ClientSettings:
        """Return the operator's settings for the clients of a service."""
        return self.client or self._settings_for(service)

    def _of(self, service: Service) -> Endpoint | None:
        if service.name not in self._known:
            url = self._url(service)
            self._known[service.name] = Endpoint.parse(url, service) if url else None
        return self._known[service.name]

    def _url(self, service: Service) -> str | None:
        client = self.settings(service.name)
        configured = self._settings.client(service.name).url if client.named_by is None else None
        if configured is not None:
            return configured.replace("%(tenant_id)s", self.access.project_id or "")
        for catalog_type in service.catalog_types:
            region = self.region if self.client else _region(self._settings, catalog_type, self.region)
            if urls := self.access.urls(catalog_type, client.endpoint_type, region):
                return urls[0]
        return self.login.auth_url if service.name == "keystone" else None


def _region(settings: CloudSettings, catalog_type: str, region: str | None) -> str | None:
    if catalog_type == "identity" and settings.identity_region_name:
        return settings.identity_region_name
    if settings.region_name_for_shared_services and catalog_type in settings.shared_services_types:
        return settings.region_name_for_shared_services
    return region or settings.region_name_for_services
