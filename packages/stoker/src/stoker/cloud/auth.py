"""`CloudPool`: opens clouds for credentials, and creates the trusts that let stacks outlive their user's token."""

from __future__ import annotations

import asyncio
import ssl
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import asdict
from functools import partial
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

import orjson
import requests
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1 import loading
from keystoneauth1 import session as ksa_session
from keystoneauth1.identity import v3

from stoker.base.errors import CloudError, Forbidden, Invalid, MissingCredentialError, Unconfirmed
from stoker.cloud.clouds_yaml import NamedCloud, read_cloud
from stoker.cloud.credentials import (
    CloudsYamlCredential,
    Credential,
    PluginCredential,
    ServiceCredential,
    StackDomainAdmin,
    StackUserCredential,
    TokenCredential,
    TrustCredential,
)
from stoker.cloud.login import Access, CheckedTokenLogin, Login, PluginLogin, TokenLogin, known_access
from stoker.cloud.remote_login import RemoteLogin, RemoteLoginThreads
from stoker.cloud.services import identity_url
from stoker.cloud.session import Cloud, SharedState
from stoker.cloud.settings import ClientSettings, CloudSettings, Tls
from stoker.cloud.transport import Transport
from stoker_foundation.clock import Clock

__all__ = [
    "CloudPool",
    "CloudsYamlCredential",
    "Credential",
    "PluginCredential",
    "ServiceCredential",
    "StackDomainAdmin",
    "StackUserCredential",
    "TokenCredential",
    "TrustCredential",
]

_MOST_CLOUDS = 2048
"""Maximum number of cached clouds; the least recently used is evicted."""


class CloudPool:
    """The clouds of one process. Create it and close it on the event loop that uses it.

    `transport` sends the requests; None creates one.
    """

    def __init__(self, settings: CloudSettings, clock: Clock, transport: Transport | None = None) -> None:
        self.settings = settings
        self._clock = clock
        self.transport = transport or Transport(settings, clock)
        self._shared = SharedState(self.transport, settings, clock, self.cloud)
        self._clouds: OrderedDict[Credential, asyncio.Future[Cloud]] = OrderedDict()
        self._regions: WeakKeyDictionary[Cloud, dict[str, Cloud]] = WeakKeyDictionary()
        self._sessions: dict[Tls, tuple[requests.Session, ksa_session.Session]] = {}
        self._remote_logins = RemoteLoginThreads(clock)

    async def close(self) -> None:
        """Close all connections and discard all tokens."""
        self._clouds.clear()
        for session, _ in self._sessions.values():
            session.close()
        self._remote_logins.close()
        await self.transport.close()

    async def cloud(self, credential: Credential, region: str | None = None) -> Cloud:
        """Return the cloud for `credential`, in `region` or the operator's default.

        Raises CloudError when Keystone rejects it or cannot be reached, Invalid when the credential cannot be used.
        """
        base = await asyncio.shield(self._base(credential))
        if region is None or region == base.region:
            return base
        regions = self._regions.setdefault(base, {})
        if region not in regions:
            regions[region] = base.with_region(region)
        return regions[region]

    def _base(self, credential: Credential) -> asyncio.Future[Cloud]:
        """Return the cloud in the credential's own region; concurrent callers share one login."""

        def opened(question: asyncio.Future[Cloud]) -> None:
            if question.cancelled() or question.exception() is not None:
                self._clouds.pop(credential, None)

        question = self._clouds.get(credential)
        if question is None:
            question = self._clouds[credential] = asyncio.ensure_future(self._open(credential))
            question.add_done_callback(opened)
        self._clouds.move_to_end(credential)
        while len(self._clouds) > _MOST_CLOUDS:
            self._clouds.popitem(last=False)
        return question

    # -- trusts -----------------------------------------------------------------------------------------------

    async def create_trust(self, user: Cloud, roles: Collection[str] = ()) -> str:
        """Create a trust that lets the service user act for `user` later; return its ID.

        `roles` are names; empty means `trusts_delegated_roles`, or else all roles of the user. Raises
        MissingCredentialError when the user lacks one of them, Forbidden when the user's token may not create a trust.
        """
        trustee = (await self.cloud(ServiceCredential())).user_id
        names = list(roles or self.settings.trusts_delegated_roles or user.role_names)
        trust = {
            "trustor_user_id": user.user_id,
            "trustee_user_id": trustee,
            "project_id": user.project_id,
            "impersonation": True,
            "allow_redelegation": self.settings.allow_trusts_redelegation,
            "roles": [{"name": name} for name in names],
        }
        try:
            body = await user.post("keystone", "/OS-TRUST/trusts", {"trust": trust})
        except CloudError as error:
            if error.status == 404:
                raise MissingCredentialError(
                    f"The stack's owner lacks a role that must be delegated ({', '.join(names)}): {error.reason}"
                ) from error
            if error.status in (401, 403):
                raise Forbidden(
                    "The caller's token may not create the trust that the stack needs, for example because it is from "
                    f"an application credential; use a password: {error.reason}"
                ) from error
            raise
        return str(body["trust"]["id"])

    async def works(self, credential: Credential) -> bool:
        """Return whether Keystone issues tokens for the credential; an unreachable Keystone counts as yes."""
        try:
            await (await self.cloud(credential)).token()
        except CloudError as error:
            return error.status not in (401, 403, 404)
        return True

    async def delete_trust(self, trust_id: str, credential: Credential) -> None:
        """Delete a trust on behalf of its trustor; no effect if the trust or the trustor no longer exists."""
        try:
            cloud = await self.cloud(credential)
            await cloud.delete("keystone", f"/OS-TRUST/trusts/{quote(trust_id, safe='')}")
        except CloudError as error:
            if isinstance(error, Unconfirmed) or error.status not in (401, 404):
                raise
        self._clouds.pop(TrustCredential(trust_id), None)

    # -- logging in -------------------------------------------------------------------------------------------

    async def _open(self, credential: Credential) -> Cloud:
        if isinstance(credential, CloudsYamlCredential):
            return await self._open_named(await asyncio.to_thread(read_cloud, credential.cloud_name))
        if isinstance(credential, PluginCredential):
            return await self._open_remote(credential)
        login = self._own_login(credential)
        return Cloud(login, await login.access(), self._shared, None)

    async def _open_remote(self, credential: PluginCredential) -> Cloud:
        """Open a cloud that a user's credential names. Raises Invalid for a plug-in that is not allowed."""
        allowed = self.settings.remote_cloud_auth_types
        if credential.auth_type not in allowed:
            raise Invalid(
                f"The auth_type {credential.auth_type!r} of the credential is not allowed; allowed are "
                f"{', '.join(allowed)} (remote_cloud_auth_types)."
            )
        _require_certificates(credential.ca_cert)
        client = ClientSettings(
            endpoint_type="public",
            insecure=credential.insecure,
            named_by=credential.project_id,
            ca_certificates=credential.ca_cert,
        )
        options = credential.options()
        url, make = identity_url(options["auth_url"]), partial(_load_plugin, credential.auth_type, options)
        seconds = self.settings.remote_cloud_timeout
        login = RemoteLogin(self._clock, url, make, self.transport, client.tls, seconds, self._remote_logins)
        return Cloud(login, await login.access(), self._shared, None, client)

    async def _open_named(self, named: NamedCloud) -> Cloud:
        """Open a cloud of the operator's clouds.yaml: Stoker's settings for reaching services do not apply."""
        client = ClientSettings(
            endpoint_type=named.interface or "public", ca_file=named.ca_file, insecure=named.insecure
        )
        auth_url = named.auth.get("auth_url") or self.settings.auth_url
        make = partial(_load_plugin, named.auth_type, {**named.auth, "auth_url": auth_url})
        login = PluginLogin(self._clock, identity_url(auth_url), self._session(client.tls), make)
        return Cloud(login, await login.access(), self._shared, named.region_name, client)

    def _own_login(
        self,
        credential: TokenCredential | TrustCredential | ServiceCredential | StackDomainAdmin | StackUserCredential,
    ) -> Login:
        """Return a login at the operator's own Keystone."""
        settings = self.settings
        url = identity_url(settings.auth_url)
        session = self._session(settings.client("keystone").tls)
        if isinstance(credential, TokenCredential):
            return _token_login(credential, self._clock, url, session)
        if isinstance(credential, StackUserCredential):
            options: dict[str, Any] = asdict(credential)
        elif isinstance(credential, StackDomainAdmin):
            options = _stack_domain_admin(settings)
        else:
            options = _service_user(settings)
            if isinstance(credential, TrustCredential):
                options["trust_id"] = credential.trust_id
            else:
                options |= {
                    "project_name": settings.project_name,
                    "project_domain_name": None if settings.project_domain_id else settings.project_domain_name,
                    "project_domain_id": settings.project_domain_id,
                }
        return PluginLogin(self._clock, url, session, partial(v3.Password, url, **options))

    def plain_session(self) -> requests.Session:
        """Return the HTTP session with which keystoneauth logs in."""
        return requests.Session()

    def _session(self, tls: Tls) -> ksa_session.Session:
        if tls not in self._sessions:
            plain = self.plain_session()
            verify = False if tls.insecure else (tls.ca_file or True)
            certificate = (tls.cert_file, tls.key_file) if tls.cert_file and tls.key_file else tls.cert_file
            limit = self.settings.call_timeout
            session = ksa_session.Session(
                session=plain, verify=verify, cert=certificate, timeout=limit, app_name="stoker"
            )
            self._sessions[tls] = (plain, session)
        return self._sessions[tls][1]


def _require_certificates(pem: str | None) -> None:
    """Raise Invalid for a string that does not contain certificates in PEM format."""
    try:
        ssl.create_default_context(cadata=pem)
    except (ssl.SSLError, TypeError) as error:  # TypeError: not ASCII
        reason = error.reason if isinstance(error, ssl.SSLError) else "it has other than ASCII characters"
        raise Invalid(f"The CA certificate of the remote cloud is not in PEM format: {reason}.") from error


def _token_login(credential: TokenCredential, clock: Clock, url: str, session: ksa_session.Session) -> Login:
    token = credential.token
    if credential.user_id is None:
        return TokenLogin(clock, url, session, token)

    def scope(catalog: object) -> Access:
        return known_access(token, catalog, credential.project_id, credential.user_id, credential.role_names)

    if credential.catalog is None:
        return CheckedTokenLogin(clock, url, session, scope, token)
    return TokenLogin.known(clock, url, session, scope(orjson.loads(credential.catalog)))


def _service_user(settings: CloudSettings) -> dict[str, object]:
    if not settings.username or settings.password is None:
        raise Invalid("No service user is configured: set username and password in [trustee] or [keystone_authtoken].")
    domain = "user_domain_id" if settings.user_domain_id else "user_domain_name"
    return {"username": settings.username, "password": settings.password, domain: getattr(settings, domain)}


def _stack_domain_admin(settings: CloudSettings) -> dict[str, object]:
    name, identifier = settings.stack_user_domain_name, settings.stack_user_domain_id
    if not settings.stack_domain_admin or settings.stack_domain_admin_password is None or not (name or identifier):
        raise Invalid(
            "No stack domain is configured: set stack_user_domain_id or stack_user_domain_name, stack_domain_admin and "
            "stack_domain_admin_password."
        )
    domain = (
        {"user_domain_id": identifier, "domain_id": identifier}
        if identifier
        else {"user_domain_name": name, "domain_name": name}
    )
    return {"username": settings.stack_domain_admin, "password": settings.stack_domain_admin_password, **domain}


def _load_plugin(auth_type: str, options: dict[str, object]) -> Any:
    try:
        loader: Any = loading.get_plugin_loader(auth_type)
        known = {option.dest for option in loader.get_options()}
        return loader.load_from_options(**{name: value for name, value in options.items() if name in known})
    except (ksa_errors.NoMatchingPlugin, ksa_errors.MissingRequiredOptions) as error:
        raise Invalid(f"The credential cannot be used: {error}.") from error
