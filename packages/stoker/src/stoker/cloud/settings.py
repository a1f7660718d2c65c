"""The operator's settings for calling services, with the option names of heat.conf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Tls:
    """How a server's certificate is verified; hashable, so that TLS contexts are shared.

    `named_by` is the ID of the project whose user named the server's cloud; None for the operator's own. Connections
    to a cloud that a user names are made only to allowed addresses, see `guard`, and in the slots of the project.
    `ca_certificates` are certificates of trusted authorities in PEM format, as `ca_file` has them.
    """

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure: bool = False
    named_by: str | None = None
    ca_certificates: str | None = field(default=None, repr=False)


NO_TLS_OPTIONS = Tls()


@dataclass(frozen=True)
class ClientSettings:
    """One `[clients]` or `[clients_<name>]` section; None means the value of `[clients]`, or the default.

    `url` is `[clients_heat] url`: an endpoint that overrides the catalog, with `%(tenant_id)s` for the project.
    `named_by` is the ID of the project whose user's credential names the cloud; None for the operator's own cloud. Such
    a credential has `ca_certificates` instead of a file.
    """

    endpoint_type: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure: bool | None = None
    url: str | None = None
    named_by: str | None = None
    ca_certificates: str | None = field(default=None, repr=False)

    @cached_property
    def tls(self) -> Tls:
        """How certificates are verified."""
        return Tls(
            self.ca_file, self.cert_file, self.key_file, bool(self.insecure), self.named_by, self.ca_certificates
        )


@dataclass(frozen=True, slots=True)
class CloudSettings:
    """The settings of a `CloudPool`.

    `auth_url` to `project_domain_id` describe the service user (`[keystone_authtoken]` and `[trustee]`);
    `server_keystone_endpoint_type` is the interface of the identity endpoint that is passed to servers,
    `server_auth_url` (`[clients_keystone] auth_uri`) the URL that is passed to them if no interface is configured.
    `remote_cloud_networks` and `remote_cloud_auth_types` restrict the addresses and plug-ins of users' credentials;
    `remote_cloud_timeout` (seconds) limits a login and a call there, `remote_cloud_answer_size` (bytes) a response.
    `cloud_answer_size` (bytes) limits a response of the operator's cloud.
    `max_microversions` maps `nova`, `cinder` and `ironic` to the operator's limits. `max_concurrent_calls` limits the
    concurrent requests of a process to the operator's cloud, and separately those to clouds that users name; a project
    uses at most half of them, and `max_concurrent_calls_per_service` for one service;
    `connect_timeout` and `call_timeout` are in seconds.
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
    cloud_answer_size: int = 16 * 2**20
    clients: Mapping[str, ClientSettings] = field(default_factory=dict)
    max_microversions: Mapping[str, str] = field(default_factory=dict)
    remote_cloud_networks: tuple[str, ...] = ()
    remote_cloud_auth_types: tuple[str, ...] = ("password", "v3password", "token", "v3token", "v3applicationcredential")
    remote_cloud_timeout: float = 60.0
    remote_cloud_answer_size: int = 16 * 2**20
    max_concurrent_calls: int = 512
    max_concurrent_calls_per_service: int = 256
    connect_timeout: float = 10.0
    call_timeout: float = 300.0
    finder_cache_seconds: float = 60.0

    def client(self, service: str) -> ClientSettings:
        """Return the settings for one service, with every None replaced; `[clients]` is `clients[""]`."""
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
