"""`Cloud`: OpenStack's services for one credential. All calls of services are made here."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any

from stoker.base.errors import BadValue, CloudError
from stoker.base.json_text import dumps
from stoker.cloud.absence import is_absent
from stoker.cloud.credentials import Credential, StackDomainAdmin
from stoker.cloud.errors import refusal
from stoker.cloud.finders import FoundNames
from stoker.cloud.login import Access, Endpoint, Endpoints, Login
from stoker.cloud.paging import next_page, query_of
from stoker.cloud.services import (
    Service,
    Version,
    offered_versions,
    parse_version,
    services,
    show_version,
)
from stoker.cloud.settings import ClientSettings, CloudSettings
from stoker.cloud.transport import Answer, Body, Request, Transport, current
from stoker_foundation.clock import Clock

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
_DOT_SEGMENT = re.compile(r"(?:^|/)\.\.?(?:[/?#]|$)")

NOT_ADDRESSABLE = Answer(404, {}, {"message": "A URL cannot contain '.' or '..' as the name or ID of an object."})


def is_addressable(path: str) -> bool:
    """Return whether a URL path refers to what it names.

    HTTP clients remove the segments `.` and `..` (RFC 3986, section 5.2.4), even if they are percent-encoded: a request
    for the object `..` of a collection would be sent to the collection's parent. No object can have such a name.
    """
    return _DOT_SEGMENT.search(path) is None


def require_sendable(service: str, headers: Mapping[str, str]) -> None:
    """Raise BadValue for a header whose name or value HTTP does not allow (RFC 9110, sections 5.1 and 5.5)."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise BadValue(f"{name!r} cannot be the name of a header in a request to {service}.")
        if _CONTROL_CHARACTER.search(value):
            raise BadValue(f"The header {name} of a request to {service} cannot contain control characters.")


Open = Callable[[Credential, str | None], Awaitable["Cloud"]]
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_EXTENSIONS_CACHE = 3600.0


class SharedState:
    """State shared by all clouds of a process: connections, settings, information about endpoints."""

    def __init__(self, transport: Transport, settings: CloudSettings, clock: Clock, open_cloud: Open) -> None:
        self.transport = transport
        self.settings = settings
        self.clock = clock
        self.open = open_cloud
        self.versions: dict[str, tuple[Version, Version] | None] = {}
        self.extensions: dict[str, tuple[float, frozenset[str]]] = {}


class Cloud:
    """Calls to services with one credential in one region.

    Services are named by their plug-in names (`nova`, `neutron`, …). Paths are relative to the service's endpoint; one
    that contains a version (`/v2.0/networks`) to its root. Every method raises CloudError with the service's message.
    `endpoints` has what clients need that are not Stoker's own: URLs in the catalog and the settings of clients.
    """

    def __init__(
        self,
        login: Login,
        access: Access,
        shared: SharedState,
        region: str | None,
        client: ClientSettings | None = None,
    ) -> None:
        self._shared = shared
        self.endpoints = Endpoints(login, access, shared.settings, region, client)
        self._names = FoundNames(shared.clock, shared.settings.finder_cache_seconds)

    # -- user, project and region -----------------------------------------------------------------------------

    @property
    def region(self) -> str | None:
        """The region whose services are called; None for the configured one."""
        return self.endpoints.region

    @property
    def project_id(self) -> str | None:
        """The project that the token is scoped to; None for a domain-scoped or unscoped one."""
        return self.endpoints.access.project_id

    @property
    def user_id(self) -> str | None:
        """The user that services see; with a trust, the trustor."""
        return self.endpoints.access.user_id

    @property
    def role_names(self) -> tuple[str, ...]:
        """The token's roles."""
        return self.endpoints.access.role_names

    @property
    def auth_url(self) -> str:
        """Keystone's URL with its version."""
        return self.endpoints.login.auth_url

    @property
    def server_auth_url(self) -> str:
        """Keystone's URL for servers, which the operator can configure separately."""
        return self.endpoints.server_auth_url

    async def token(self) -> str:
        """Return a fresh token, for resource types that pass one on."""
        return (await self.endpoints.current()).token

    def has_service(self, service: str) -> bool:
        """Return whether the catalog has the service, in this region, with the configured interface."""
        return self.endpoints.has(service)

    def endpoint(self, service: str) -> str:
        """Return the service's URL with version, without a trailing slash. Raises CloudError 404 if there is none."""
        return self.endpoints.of(service).url

    def with_region(self, region: str) -> Cloud:
        """Return a cloud for the same credential in another region."""
        endpoints = self.endpoints
        return Cloud(endpoints.login, endpoints.access, self._shared, region, endpoints.client)

    async def acting_as(self, credential: Credential, region: str | None = None) -> Cloud:
        """Return a cloud for another credential."""
        return await self._shared.open(credential, region or self.region)

    async def as_stack_domain_admin(self) -> Cloud:
        """Return a cloud for the administrator of the stack domain."""
        return await self.acting_as(StackDomainAdmin())

    # -- calls ------------------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        service: str,
        path: str,
        *,
        json: object = None,
        params: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        data: Body = None,
        microversion: str | None = None,
        ok: Collection[int] = (),
        once: bool = False,
    ) -> Answer:
        """Call a service. A status of 400 or above, or a redirect, raises CloudError unless it is in `ok`.

        `json` is sent as the body, `data` without conversion. None among `params` is omitted; a list is repeated.
        `microversion` replaces the negotiated one. A rejected token is renewed once. `once` is for requests that are
        not idempotent although their method (PUT, DELETE) is. A path with a segment `.` or `..` gets 404 without a
        request, see `is_addressable`. Raises BadValue for a header that HTTP cannot carry, and Unconfirmed for a 404
        that does not prove that the object does not exist, also if 404 is in `ok` (see `stoker.cloud.absence`).
        """
        sent = dict(headers or {})
        if microversion is None:
            microversion = await self.microversion(service)
        if microversion is not None:
            sent.update(_version_headers(services()[service], microversion))
        if json is not None:
            data = dumps(json)
            sent.setdefault("Content-Type", "application/json")
        elif data is not None:
            sent.setdefault("Accept", "*/*")  # Mistral refuses requests for JSON that send a definition in YAML
        url = (await self.endpoints.newest(service)).join(path)
        require_sendable(service, sent)
        gone = True
        if is_addressable(path):
            effects = current()
            effects.sent(method)
            answer = await self._answered(service, method, url, params, sent, data, once)
            effects.answered(method, answer.status)
            if answer.status == 404:
                look = partial(self._read_again, service, sent)
                gone = await is_absent(look, service, method, path, answer, expected=404 in ok)
        else:
            answer = NOT_ADDRESSABLE
        if (answer.status >= 400 or answer.status in _REDIRECTS) and answer.status not in ok:
            now = self._shared.clock.now()
            raise refusal(service, answer.status, answer.headers, answer.body, now, method=method, path=path, gone=gone)
        return answer

    async def get(self, service: str, path: str, **options: Any) -> Any:
        """Send `GET` and return the body of the response; for options see `request`."""
        return (await self.request("GET", service, path, **options)).body

    async def post(self, service: str, path: str, json: object = None, **options: Any) -> Any:
        """Send `POST` and return the body of the response."""
        return (await self.request("POST", service, path, json=json, **options)).body

    async def put(self, service: str, path: str, json: object = None, **options: Any) -> Any:
        """Send `PUT` and return the body of the response."""
        return (await self.request("PUT", service, path, json=json, **options)).body

    async def patch(self, service: str, path: str, json: object = None, **options: Any) -> object:
        """Send `PATCH` and return the body of the response."""
        return (await self.request("PATCH", service, path, json=json, **options)).body

    async def delete(self, service: str, path: str, **options: Any) -> Any:
        """Send `DELETE` and return the body of the response, usually None."""
        return (await self.request("DELETE", service, path, **options)).body

    async def list(
        self, service: str, path: str, key: str, params: Mapping[str, object] | None = None, **options: object
    ) -> list[Any]:
        """Return all items of a collection, page by page; `key` is the list's key in the body, "" for a bare list."""
        items: list[object] = []
        query: Mapping[str, object] | None = params
        seen: set[str] = set()
        while True:
            body = await self.get(service, path, params=query, **options)
            page = body if isinstance(body, list) else (body or {}).get(key) or []
            items.extend(page)
            following = next_page(body, key) if page else None
            if following is None or following in seen:
                return items
            seen.add(following)
            query = query_of(following)

    # -- names and versions -----------------------------------------------------------------------------------

    async def find(self, kind: str, value: str) -> str:
        """Return the ID of the object of a kind (`neutron.network`) with the name or ID `value`.

        Results are cached for `finder_cache_seconds`; equal concurrent look-ups share one request. Raises NotNamed
        (404) and Ambiguous (400), both CloudErrors.
        """
        return await self._names.find(self, kind, value)

    async def has_extension(self, service: str, alias: str) -> bool:
        """Return whether the service has loaded an API extension; true for services without extensions."""
        path = services()[service].extension_list
        if path is None:
            return True
        now = self._shared.clock.now()
        url = self.endpoint(service)
        known = self._shared.extensions.get(url)
        if known is None or known[0] < now:
            listed = await self.list(service, path, "extensions")
            known = (now + _EXTENSIONS_CACHE, frozenset(str(item.get("alias")) for item in listed))
            self._shared.extensions[url] = known
        return alias in known[1]

    async def microversion(self, service: str) -> str | None:
        """Return the microversion of calls: fixed, or the newest that both sides support and the operator allows."""
        known = services()[service].microversions
        if known is None or known.newest is None:
            return known.always if known else None
        offered = await self._offered(services()[service])
        if offered is None:
            return None
        newest = min(offered[1], parse_version(known.newest))
        cap = self._shared.settings.max_microversions.get(service)
        if cap is not None:
            newest = min(newest, parse_version(cap))
        if newest < offered[0]:
            oldest = show_version(offered[0])
            problem = f"{service} requires microversion {oldest}, which is newer than Stoker supports or may use"
            raise CloudError(service, 406, problem)
        return show_version(newest)

    async def supports(self, service: str, microversion: str) -> bool:
        """Return whether calls can use at least this microversion."""
        spoken = await self.microversion(service)
        return spoken is not None and parse_version(spoken) >= parse_version(microversion)

    async def _offered(self, service: Service) -> tuple[Version, Version] | None:
        endpoint = await self.endpoints.newest(service.name)
        versions = self._shared.versions
        if endpoint.version_url not in versions:
            versions[endpoint.version_url] = await self._discover(service, endpoint)
        return versions[endpoint.version_url]

    async def _discover(self, service: Service, endpoint: Endpoint) -> tuple[Version, Version] | None:
        access = await self.endpoints.current()
        for url in (endpoint.version_url, f"{endpoint.root}/"):
            answer = await self._send(service.name, "GET", url, access, None, {}, None)
            if answer.status >= 500:
                raise refusal(service.name, answer.status, answer.headers, answer.body, self._shared.clock.now())
            offered = offered_versions(answer.body, answer.headers, endpoint.version)
            if offered is not None:
                return offered
        return None

    # -- internal ---------------------------------------------------------------------------------------------

    async def _read_again(
        self, service: str, headers: Mapping[str, str], method: str, path: str, params: Mapping[str, object] | None
    ) -> Answer:
        """Ask for an object a second time, with the headers of the first request; return the response."""
        reusable = {name: value for name, value in headers.items() if name not in ("Accept", "Content-Type")}
        url = (await self.endpoints.newest(service)).join(path)
        return await self._answered(service, method, url, params, reusable, None, once=False)

    async def _answered(
        self,
        service: str,
        method: str,
        url: str,
        params: Mapping[str, object] | None,
        headers: Mapping[str, str],
        data: Body,
        once: bool,
    ) -> Answer:
        access = await self.endpoints.current()
        answer = await self._send(service, method, url, access, params, headers, data, once)
        if answer.status == 401:
            access = await self.endpoints.renewed(access)
            answer = await self._send(service, method, url, access, params, headers, data, once)
        return answer

    async def _send(
        self,
        service: str,
        method: str,
        url: str,
        access: Access,
        params: Mapping[str, object] | None,
        headers: Mapping[str, str],
        data: Body,
        once: bool = False,
    ) -> Answer:
        query = {key: _text(value) for key, value in (params or {}).items() if value is not None}
        sent = {"X-Auth-Token": access.token, **headers}
        tls = self.endpoints.settings(service).tls
        return await self._shared.transport.send(
            Request(service, method, url, sent, query, data, tls, once, access.project_id or "")
        )


def _version_headers(service: Service, microversion: str) -> dict[str, str]:
    known = service.microversions
    if known is None:
        raise CloudError(service.name, 406, f"{service.name} has no microversions")
    return {name: text.format(microversion) for name, text in known.headers}


def _text(value: object) -> object:
    if isinstance(value, bool):
        return str(value)
    return [_text(item) for item in value] if isinstance(value, list | tuple) else value
