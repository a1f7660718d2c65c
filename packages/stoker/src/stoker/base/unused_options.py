"""Options of Heat's configuration that have no effect in Stoker, each with the reason, and which of them are set.

The manual's list and the warnings at start are both made from `WITHOUT_EFFECT`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from oslo_config import cfg

from stoker.base.config_files import Written, written_values
from stoker.base.known_options import known_options, suggested_option
from stoker.base.options import LIBRARY_GROUPS

ALL = "*"
"""Stands for all options of a section."""

_log = logging.getLogger(__name__)

_CLASSES = "It names a class of Heat. Packages add services to Stoker through the entry points `stoker.services`."
_CLOUDWATCH = "There is no CloudWatch interface; alarms are resources of the telemetry service."
_ONE_LOGIN = "The login is a user's name and password in a project."
_OUTAGES = "Work on a database that cannot be reached always waits and is retried twice a second."
_PROXY = "The built-in server does not use it. A proxy in front of the API terminates TLS."
_READ_REPLICA = "All statements are sent to `connection`: an engine must read its own writes."
_SERVICE_CLIENT = "The identity service that checks signatures is called directly, at `auth_url`."
_ONE_IDENTITY = "Users of one identity service are accepted."

WITHOUT_EFFECT: Mapping[str, Mapping[str, str]] = {
    "DEFAULT": {
        "cloud_backend": _CLASSES,
        "convergence_engine": "Operations are always distributed among all engines.",
        "enable_cloud_watch_lite": _CLOUDWATCH,
        "encrypt_parameters_and_properties": "Hidden parameters, passwords and property values are always encrypted.",
        "engine_life_check_timeout": "Engines report in the database; `[engine] lease_seconds` is the limit.",
        "error_wait_time": "It belongs to Heat's engine without convergence. When a resource fails, steps that are in "
        "progress continue to their own ends.",
        "heat_watch_server_url": _CLOUDWATCH,
        "instance_user": "Servers use the user of their image.",
        "keystone_backend": _CLASSES,
        "metadata_put_timeout": "Uploads of metadata have the time limit of all calls of services, 300 seconds.",
        "num_engine_workers": "An engine is one process that runs many operations at once. Start more engines for more "
        "processors, each with its own `host`.",
        "periodic_interval": "Engines have no periodic tasks with a common interval.",
        "reauthentication_auth_method": "Long operations always get new tokens through a trust.",
    },
    "auth_password": {ALL: _ONE_IDENTITY},
    "cache": {
        ALL: "What an engine caches is small, is for one project and short-lived, and is kept in its memory: a request "
        "to memcached would take about as long as the request to the service that it saves. Validated tokens are the "
        "exception: `[keystone_authtoken] memcached_servers` shares them among API processes."
    },
    "clients_cinder": {"http_log_debug": "With `debug = true` the requests to all services are logged."},
    "clients_nova": {"http_log_debug": "With `debug = true` the requests to all services are logged."},
    "database": {
        "asyncio_connection": "The database is used through one driver, that of `connection`.",
        "asyncio_slave_connection": _READ_REPLICA,
        "backend": "SQLAlchemy is the only one.",
        "connection_debug": "`default_log_levels` with `sqlalchemy.engine=INFO` logs SQL statements.",
        "connection_trace": "`default_log_levels` with `sqlalchemy.engine=INFO` logs SQL statements.",
        "db_inc_retry_interval": _OUTAGES,
        "db_max_retries": _OUTAGES,
        "db_max_retry_interval": _OUTAGES,
        "db_retry_interval": _OUTAGES,
        "mysql_sql_mode": "Statements do not depend on the server's mode.",
        "slave_connection": _READ_REPLICA,
        "sqlite_synchronous": "SQLite always writes to disk before a transaction ends.",
        "synchronous_reader": _READ_REPLICA,
        "use_db_reconnect": _OUTAGES,
    },
    "ec2authtoken": {
        "auth_section": "Set the login in this section or in `[keystone_authtoken]`.",
        "clouds": _ONE_IDENTITY,
        "multi_cloud": _ONE_IDENTITY,
        **dict.fromkeys(
            ("domain_id", "domain_name", "project_id", "system_scope", "trust_id", "user_id"),
            _ONE_LOGIN,
        ),
        **dict.fromkeys(
            (
                "collect_timing", "connect_retries", "connect_retry_delay", "endpoint_override", "interface",
                "max_version", "min_version", "region_name", "retriable_status_codes", "service_name", "service_type",
                "split_loggers", "status_code_retries", "status_code_retry_delay", "tls_ciphers", "tls_min_version",
                "valid_interfaces", "version",
            ),
            _SERVICE_CLIENT,
        ),
    },
    **{
        group: dict.fromkeys(("cert_file", "key_file", "max_header_line", "tcp_keepidle"), _PROXY)
        for group in ("heat_api", "heat_api_cfn")
    },
    "heat_api_cloudwatch": {ALL: _CLOUDWATCH},
    "noauth": {ALL: "Every request is authenticated."},
    "oslo_concurrency": {ALL: "No lock files are used."},
    "oslo_reports": {ALL: "Reports are written to the standard error stream, on SIGUSR2."},
    "oslo_versionedobjects": {ALL: "Messages between processes are not versioned objects."},
    "profiler": {ALL: "OSProfiler is not supported; the engines offer metrics for Prometheus."},
    "resource_finder_cache": {
        ALL: "IDs that names were resolved to are cached with the results of constraints; "
        "`[constraint_validation_cache]` configures both."
    },
    "service_extension_cache": {ALL: "Lists of extensions are not requested."},
    "trustee": {
        "auth_section": "Set the login in this section or in `[keystone_authtoken]`.",
        **dict.fromkeys(
            (
                "default_domain_id", "default_domain_name", "domain_id", "domain_name", "project_id", "system_scope",
                "trust_id", "user_id",
            ),
            _ONE_LOGIN,
        ),
    },
}  # fmt: skip
"""Section → option → why it has no effect; the sections that Stoker supports and those that it does not."""


def reason_of(group: str, name: str) -> str | None:
    """Return why an option of Heat has no effect; None for options that Stoker supports or does not know."""
    options = WITHOUT_EFFECT.get(group, {})
    return options.get(name) or options.get(ALL)


@dataclass(frozen=True, slots=True)
class Unknown:
    """An option in a configuration file that neither Stoker nor Heat has, and a hint what is meant."""

    written: Written
    hint: str | None

    @property
    def sentence(self) -> str:
        """The problem with its place."""
        hint = f"; {self.hint}" if self.hint is not None else ""
        return f"{self.written.place}: [{self.written.group}] {self.written.name}: there is no such option{hint}"


def unused_options(config: cfg.ConfigOpts, library_groups: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """Return `(section, name)` of each option in the configuration files that has no effect, sorted.

    `library_groups` are sections that other libraries read.
    """
    return sorted({(written.group, written.name) for written in _unused(config, known_options(config), library_groups)})


def unknown_options(config: cfg.ConfigOpts, library_groups: frozenset[str] = frozenset()) -> list[Unknown]:
    """Return the options in the configuration files that neither Stoker nor Heat has, in the order of the files."""
    known = known_options(config)
    return [
        Unknown(written, suggested_option(known, written.group, written.name))
        for written in _unused(config, known, library_groups)
        if reason_of(written.group, written.name) is None
    ]


def log_unused_options(config: cfg.ConfigOpts, library_groups: frozenset[str] = frozenset()) -> None:
    """Log a warning for the options in the configuration files that have no effect. Call it when logging is set up."""
    for group, name in unused_options(config, library_groups):
        reason = reason_of(group, name)
        if reason is not None:
            _log.warning("The option [%s] %s has no effect: %s", group, name, reason)
    for unknown in unknown_options(config, library_groups):
        _log.warning("The configuration sets an option that Stoker does not support: %s", unknown.sentence)


def _unused(
    config: cfg.ConfigOpts, known: AbstractSet[tuple[str, str]], library_groups: frozenset[str]
) -> Iterator[Written]:
    foreign = LIBRARY_GROUPS | library_groups
    for written in written_values(config):
        if written.group not in foreign and (written.group, written.name) not in known:
            yield written
