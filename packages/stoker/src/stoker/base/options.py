"""The options of `heat.conf` that Stoker supports; they keep their names, types and defaults.

An option that is not in `OPTIONS` is not registered, and `unused_options.log_unused_options` names it in a warning, so
that no setting is accepted and then ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oslo_config import cfg
from oslo_middleware import cors, healthcheck, http_proxy_to_wsgi

from stoker.base.default_options import BEHAVIOUR, IDENTITY, LIMITS, TIMING

_INTERFACES = ["publicURL", "internalURL", "adminURL", "public", "internal", "admin"]

_DATABASE = (
    cfg.StrOpt("connection", secret=True, help="URL of the database."),
    cfg.StrOpt("connection_parameters", default="", help="Parameters for the URL: `name=value&name=value`."),
    cfg.IntOpt(
        "mysql_wsrep_sync_wait",
        min=0,
        max=15,
        help="wsrep_sync_wait of sessions on a Galera cluster: which statements wait for the other nodes' writes.",
    ),
    cfg.IntOpt("max_pool_size", default=5, min=0, help="Connections kept open; 0: no limit."),
    cfg.IntOpt("max_overflow", default=50, min=0, help="Connections opened beyond those under load."),
    cfg.IntOpt("pool_timeout", min=0, help="Seconds to wait for a free connection."),
    cfg.IntOpt("connection_recycle_time", default=3600, help="Seconds after which a connection is renewed."),
    cfg.IntOpt("max_retries", default=10, min=-1, help="Attempts to connect at start; -1: no limit."),
    cfg.IntOpt("retry_interval", default=10, min=0, help="Seconds between those attempts."),
)

_ENGINE = (
    cfg.FloatOpt(
        "lease_seconds",
        default=15.0,
        min=0.5,
        help="Seconds without a report after which other engines take over an engine's operations.",
    ),
    cfg.FloatOpt(
        "heartbeat_seconds",
        default=3.0,
        min=0.1,
        help="Seconds between an engine's reports, a third of its lease at most.",
    ),
    cfg.IntOpt(
        "deaths_limit",
        default=3,
        min=0,
        help="Number of engines in a row that must have died while running an operation, without progress, before the "
        "operation is set aside as failed; 0: never.",
    ),
    cfg.IntOpt(
        "deleted_stacks_days",
        default=90,
        min=0,
        help="Days after which the records of a deleted stack are removed; 0: never.",
    ),
    cfg.IntOpt(
        "deleted_stacks_kept",
        default=10_000,
        min=0,
        help="Maximum number of deleted stacks whose records are kept, nested ones included; 0: all.",
    ),
    cfg.IntOpt("events_days", default=365, min=0, help="Days after which events are removed; 0: never."),
    cfg.IntOpt(
        "operations_days",
        default=365,
        min=0,
        help="Days after which operations are removed, with their plans and definitions, when a later one of the same "
        "stack has ended; also change sets, refactorings and requests for approval. 0: never.",
    ),
    cfg.IntOpt(
        "max_operations_per_stack",
        default=1000,
        min=0,
        help="Operations kept for a stack; 0: all.",
    ),
    cfg.StrOpt(
        "archive_directory",
        help="Directory in which records are written to files of JSON lines before they are removed; none by default.",
    ),
    cfg.FloatOpt(
        "validation_seconds",
        default=20.0,
        min=1.0,
        help="Seconds that services may take to check the values of a template, at most a third of "
        "rpc_response_timeout; what has not been answered by then is reported as unchecked.",
    ),
    cfg.FloatOpt(
        "set_aside_seconds",
        default=900.0,
        min=0.0,
        help="Seconds without the death of an engine after which an operation that was set aside is resumed once; "
        "0: never.",
    ),
    cfg.IntOpt(
        "readers",
        min=0,
        help="Maximum number of processes beside the engine of `stoker up` that serve lists, validation and previews "
        "while many are requested at a time; 0: none. By default one for each processor but one. Engines of a cluster "
        "start none.",
    ),
    cfg.StrOpt(
        "state_directory",
        help="Directory in which an engine of a cluster keeps, on its machine, the mark by which it recognizes a "
        "database that was restored from a backup. The default is systemd's STATE_DIRECTORY, or that of the user.",
    ),
    cfg.StrOpt("status_host", default="127.0.0.1", help="Address of an engine's metrics and health check."),
    cfg.PortOpt("status_port", help="Port of an engine's metrics and health check; unset: not served."),
)


def _api(port: int) -> tuple[cfg.Opt, ...]:
    return (
        cfg.StrOpt("bind_host", default="0.0.0.0", help="Address that the process listens on."),  # noqa: S104
        cfg.PortOpt("bind_port", default=port, help="Port that the process listens on."),
        cfg.IntOpt(
            "workers",
            default=1,
            min=0,
            help="Each serves eight requests at a time, on threads of one process; 0: one worker for each processor.",
        ),
        cfg.IntOpt("backlog", default=4096, min=1, help="Connections that may wait to be accepted."),
        cfg.IntOpt(
            "max_connections",
            default=4096,
            min=16,
            help="Maximum of open connections; above it idle ones are closed, first the oldest of the client with "
            "most of them. Half the process's limit of open files, if that is less.",
        ),
        cfg.FloatOpt("head_timeout", default=10, min=0.1, help="Seconds that the head of a request may take."),
        cfg.FloatOpt("body_timeout", default=60, min=0.1, help="Seconds that the body of a request may take."),
        cfg.FloatOpt(
            "keepalive_timeout",
            default=75,
            min=0.1,
            help="Seconds after which a connection without a request is closed; a proxy's should be less.",
        ),
    )


_SIGNATURES = (
    cfg.URIOpt("auth_url", help="Identity service that checks signatures; that of [keystone_authtoken] by default."),
    cfg.StrOpt("cafile", help="Certificates of the authorities that are trusted."),
    cfg.StrOpt("certfile", help="Client certificate."),
    cfg.StrOpt("keyfile", help="Key of the client certificate."),
    cfg.BoolOpt("insecure", default=False, help="Accept any server certificate."),
    cfg.IntOpt("timeout", min=1, help="Seconds that a response may take."),
)

_CLIENT = (
    cfg.StrOpt("endpoint_type", choices=_INTERFACES, help="Interface of the catalog's endpoints."),
    cfg.StrOpt("ca_file", help="Certificates of the authorities that are trusted."),
    cfg.StrOpt("cert_file", help="Client certificate."),
    cfg.StrOpt("key_file", help="Key of the client certificate."),
    cfg.BoolOpt("insecure", help="Accept any server certificate."),
)

_SERVICES = (
    "aodh", "barbican", "cinder", "designate", "glance", "heat", "keystone", "magnum", "manila", "mistral",
    "neutron", "nova", "octavia", "swift", "trove", "zaqar",
)  # fmt: skip

_EVALUATION = (
    cfg.IntOpt(
        "steps",
        default=5_000_000,
        min=10_000,
        max=10**10,
        help="Calls of functions, and values looked at, for one request; an operation has four times as many. Where "
        "max_resources_per_stack allows more than 1000 resources, as many times more; also for bytes and seconds.",
    ),
    cfg.IntOpt(
        "bytes",
        default=128 * 1024 * 1024,
        min=1024 * 1024,
        max=2**40,
        help="Bytes of values that one request may make, each time that they are made; four times for an operation.",
    ),
    cfg.FloatOpt(
        "seconds",
        default=5.0,
        min=0.1,
        max=3600.0,
        help="Processor time that the templates of one request may take; those of an operation, four times as much.",
    ),
    cfg.FloatOpt(
        "seconds_at_once",
        default=0.01,
        min=0.001,
        max=1.0,
        help="Processor time for which evaluating may hold up everything else in an engine; what takes longer is done "
        "on a thread, one piece at a time for each project.",
    ),
    cfg.IntOpt(
        "memory",
        default=64 * 1024 * 1024,
        min=1024 * 1024,
        max=2**40,
        help="Bytes of values that the steps of all operations of an engine may work on together; further steps wait. "
        "As many bytes of other values stay in memory; the rest is kept, encrypted, in a temporary file.",
    ),
)

SERVICE_USER = "trustee"
"""The group of the user as whom Stoker acts; keystoneauth declares its options."""

SIGNATURE_LOGIN = "ec2authtoken"
"""The group with the user who asks the identity service to check signatures, by default that of keystone_authtoken."""

LOGINS = (SERVICE_USER, SIGNATURE_LOGIN)

OPTIONS: Mapping[str, Sequence[cfg.Opt]] = {
    "DEFAULT": (*LIMITS, *TIMING, *IDENTITY, *BEHAVIOUR),
    "database": _DATABASE,
    "engine": _ENGINE,
    "evaluation": _EVALUATION,
    "heat_api": (
        *_api(8004),
        cfg.IntOpt(
            "event_streams",
            default=256,
            min=0,
            help="Maximum of event streams that the built-in server holds open; others end at once, and clients that "
            "reconnect get the new events.",
        ),
    ),
    "heat_api_cfn": (
        *_api(8000),
        cfg.URIOpt(
            "cost_calculator_url",
            schemes=["http", "https"],
            help="Page whose URL EstimateTemplateCost returns; its query has the number of resources of each type.",
        ),
    ),
    "console": (
        cfg.BoolOpt("enabled", default=False, help="Serve the web console below /console, beside the REST API."),
        cfg.URIOpt(
            "auth_url",
            schemes=["http", "https"],
            help="Identity service for logging in; by default www_authenticate_uri of [keystone_authtoken], or its "
            "auth_url.",
        ),
        cfg.IntOpt(
            "session_seconds",
            default=28_800,
            min=60,
            max=604_800,
            help="Longest duration of a session; it also ends with the token that Keystone has issued.",
        ),
        cfg.IntOpt(
            "login_attempts",
            default=10,
            min=1,
            max=1000,
            help="Failed log-ins from one address or for one user in login_window, after which more are refused.",
        ),
        cfg.IntOpt("login_window", default=300, min=1, max=86_400, help="Seconds for which failed log-ins count."),
        cfg.StrOpt(
            "login_hint",
            default="",
            max_length=500,
            help="What the page for logging in says to users, for example where they get an account.",
        ),
        cfg.URIOpt(
            "horizon_url",
            schemes=["http", "https"],
            help="Address of Horizon, such as https://cloud.example.org/dashboard, for links from resources to "
            "the pages of their objects.",
        ),
    ),
    "webhooks": (
        cfg.StrOpt(
            "secret",
            secret=True,
            help="Key of the signatures of requests to webhooks, at least 32 characters, the same on all engines; the "
            "keys of projects are derived from it. Without it, no webhook is called.",
        ),
        cfg.FloatOpt("timeout", default=10.0, min=0.1, max=60.0, help="Seconds for a request to a webhook."),
        cfg.ListOpt(
            "networks",
            default=[],
            help="Networks (CIDR) of webhooks besides public addresses; only there, http is allowed besides https.",
        ),
    ),
    "smtp": (
        cfg.StrOpt("host", help="SMTP server for notices by mail. Without it, no mail is sent."),
        cfg.PortOpt("port", default=587, help="Its port."),
        cfg.StrOpt(
            "security",
            default="starttls",
            choices=["starttls", "tls", "none"],
            help="How the connection is protected: by STARTTLS, by TLS from the beginning (port 465), or not at all.",
        ),
        cfg.StrOpt("user", help="Name to log in with; none to send without."),
        cfg.StrOpt("password", secret=True, help="Its password."),
        cfg.StrOpt("sender", default="stoker@localhost", help="Address that mail is from."),
        cfg.FloatOpt("timeout", default=20.0, min=0.1, max=300.0, help="Seconds for each answer of the server."),
        cfg.StrOpt("ca_file", help="File with the certificates of authorities, instead of the system's."),
    ),
    "constraint_validation_cache": (
        cfg.BoolOpt("caching", default=True, help="Cache IDs of names, and values that constraints accept."),
        cfg.IntOpt("expiration_time", default=60, min=0, help="Seconds for which they are cached."),
    ),
    SIGNATURE_LOGIN: _SIGNATURES,
    "clients": (
        cfg.StrOpt("endpoint_type", default="public", choices=_INTERFACES, help="For all services."),
        *_CLIENT[1:4],
        cfg.BoolOpt("insecure", default=False, help="Accept any server certificate."),
    ),
    **{f"clients_{service}": _CLIENT for service in _SERVICES},
    "clients_heat": (*_CLIENT, cfg.URIOpt("url", help="This service's URL, instead of the catalog's.")),
    "clients_keystone": (*_CLIENT, cfg.URIOpt("auth_uri", help="Identity URL that is passed to servers.")),
    "oslo_middleware": tuple(http_proxy_to_wsgi.OPTS),
    "cors": tuple(cors.CORS_OPTS),
    "healthcheck": (*healthcheck.opts.HEALTHCHECK_OPTS, *healthcheck.opts.DISABLE_BY_FILE_OPTS),
    "paste_deploy": (
        cfg.StrOpt(
            "api_paste_config",
            default="api-paste.ini",
            help="File whose sections `[filter:...]` have options of `[cors]`, `[healthcheck]` and "
            "`[oslo_middleware]`, which precede those of heat.conf; looked for beside the configuration files.",
        ),
        cfg.StrOpt(
            "flavor",
            choices=["keystone", "standalone"],
            help="standalone: the REST API takes users' names and passwords (X-Auth-User, X-Auth-Key) besides tokens.",
        ),
    ),
    "revision": (cfg.StrOpt("heat_revision", default="unknown", help="Revision that build_info reports."),),
    "volumes": (cfg.BoolOpt("backups_enabled", default=True, help="The cloud has volume backups."),),
    "yaql": (
        cfg.IntOpt("limit_iterators", default=200, min=0, help="Most elements an expression may yield."),
        cfg.IntOpt("memory_quota", default=10000, min=0, help="Most bytes an expression may use."),
    ),
}
"""The options that Stoker supports, by group."""

LIBRARY_GROUPS = frozenset({"keystone_authtoken", "oslo_policy"})
"""Groups that keystonemiddleware and oslo.policy read themselves."""

SERVICE_USER_OPTIONS = (
    "auth_url", "username", "password", "user_domain_name", "user_domain_id", "project_name", "project_domain_name",
    "project_domain_id",
)  # fmt: skip
"""The options of that group that are supported."""
