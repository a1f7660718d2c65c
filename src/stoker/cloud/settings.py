"""The operator's settings for calling services, under the names of heat.conf (facts: config_options.json)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tls:
    """How the other side of a connection is checked; hashable, so that contexts are shared.

    `named_by_user` connections are made to allowed addresses only, see `guard`.
    """

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure: bool = False
    named_by_user: bool = False


NO_TLS_OPTIONS = Tls()


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """One `[clients]` or `[clients_<name>]` section; None falls back to `[clients]`, then to the default.

    `url` is `[clients_heat] url`: an endpoint that wins over the catalog, with `%(tenant_id)s` for the project.
    `named_by_user` is true of a cloud that a user's credential names.
    """

    endpoint_type: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure: bool | None = None
    url: str | None = None
    named_by_user: bool = False

    @property
    def tls(self) -> Tls:
        """How connections are checked."""
        return Tls(self.ca_file, self.cert_file, self.key_file, bool(self.insecure), self.named_by_user)


@dataclass(frozen=True, slots=True)
class CloudSettings:
    """What `CloudPool` needs to know.

    `auth_url` to `project_domain_id` are the service user (`[keystone_authtoken]` and `[trustee]`);
    `server_keystone_endpoint_type` is the interface of the identity endpoint that servers are told, `server_auth_url`
    (`[clients_keystone] auth_uri`) the URL that they are told where no interface is chosen.
    `remote_cloud_networks` and `remote_cloud_auth_types` are what credentials that users give may lead to and use;
    `remote_cloud_timeout` (seconds) bounds a login and a call there, `remote_cloud_answer_size` (bytes) an answer.
    `max_microversions` maps `nova`, `cinder` and `ironic` to the operator's caps. `max_concurrent_calls` bounds the
    requests in flight of one process to the operator's cloud, and separately those to clouds that users name;
    `connect_timeout` and `call_timeout` are seconds.
    """

    auth_url: str = ""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    user_domain_name: str | None = "Default"
    user_domain_id: str | None = None
    project_name: str | None = None
    project_domain_name: str | None = "Default"
    project_domain_id: str | None = None
    region_name_for_services: str | None = None
    region_name_for_shared_services: str | None = None
    shared_services_types: tuple[str, ...] = ("image", "volumev3")
    identity_region_name: str | None = None
    stack_user_domain_name: str | None = None
    stack_user_domain_id: str | None = None
    stack_domain_admin: str | None = None
    stack_domain_admin_password: str | None = field(default=None, repr=False)
    trusts_delegated_roles: tuple[str, ...] = ()
    allow_trusts_redelegation: bool = False
    heat_stack_user_role: str = "heat_stack_user"
    server_keystone_endpoint_type: str = ""
    server_auth_url: str | None = None
    client_retry_limit: int = 2
    clients: Mapping[str, ClientSettings] = field(default_factory=dict)
    max_microversions: Mapping[str, str] = field(default_factory=dict)
    remote_cloud_networks: tuple[str, ...] = ()
    remote_cloud_auth_types: tuple[str, ...] = ("password", "v3password", "token", "v3token", "v3applicationcredential")
    remote_cloud_timeout: float = 60.0
    remote_cloud_answer_size: int = 16 * 2**20
    max_concurrent_calls: int = 200
    connect_timeout: float = 10.0
    call_timeout: float = 300.0
    finder_cache_seconds: float = 60.0

    def client(self, service: str) -> ClientSettings:
        """The settings for one service, every None replaced; the section without a name is `clients[""]`."""
        own = self.clients.get(service, ClientSettings())
        common = self.clients.get("", ClientSettings())
        return ClientSettings(
            endpoint_type=own.endpoint_type or common.endpoint_type or "public",
            ca_file=own.ca_file or common.ca_file,
            cert_file=own.cert_file or common.cert_file,
            key_file=own.key_file or common.key_file,
            insecure=bool(common.insecure if own.insecure is None else own.insecure),
            url=own.url,
        )
