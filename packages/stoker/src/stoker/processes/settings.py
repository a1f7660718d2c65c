"""Conversion of heat.conf's options to the settings of a process's components."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from keystoneauth1 import loading
from oslo_config import cfg

from stoker.api.serving.limits import Limits
from stoker.base.default_options import PUBLIC_KEY
from stoker.base.options import OPTIONS, SERVICE_USER, SERVICE_USER_OPTIONS
from stoker.cloud.settings import ClientSettings, CloudSettings
from stoker.engine.change_control import read_file
from stoker.engine.operator_environment import OperatorEnvironment
from stoker.engine.plan_policies.policy import Policy, Source
from stoker.engine.price_list import PriceList
from stoker.engine.settings import EngineSettings
from stoker.plugins.transports import configuration_transports, deployment_transports, signal_transport

TOKEN_CHECK = "keystone_authtoken"  # noqa: S105  the name of a section

THREADS_OF_A_WORKER = 8

_CLIENTS = "clients"
_SHORTEST_KEY = 16

if TYPE_CHECKING:  # where somebody is notified or asked
    from stoker.base.mail import MailSettings
    from stoker.base.webhooks import WebhookSettings

_log = logging.getLogger(__name__)

_SHORTEST_SECRET = 32
_BEATS_IN_A_LEASE = 3
"""Reports per lease, so that an engine with one failed or late report can still rely on it (see `SAFE_PART`)."""


def set_login(config: cfg.ConfigOpts, group: str, auth_type: str, auth: Mapping[str, object]) -> None:
    """Configure the login of `group` with a plug-in of keystoneauth, unless the configuration files do.

    `auth` has the plug-in's options by their names in clouds.yaml; unknown ones are ignored, as OpenStack's clients do.
    """
    loading.register_auth_conf_options(config, group)
    config.set_default("auth_type", auth_type, group=group)
    plugin: Any = loading.get_plugin_loader(config[group].auth_type)
    options = loading.get_auth_plugin_conf_options(plugin)
    config.register_opts(options, group=group)
    for option in options:
        if auth.get(option.dest) is not None:
            config.set_default(option.dest, auth[option.dest], group=group)


def cloud_settings(config: cfg.ConfigOpts) -> CloudSettings:
    """Return the settings for calling services. `[keystone_authtoken]` has the defaults of `[trustee]`."""
    remembered = config.constraint_validation_cache.expiration_time if config.constraint_validation_cache.caching else 0
    return CloudSettings(
        **_of_the_same_name(config, CloudSettings),
        **{name: value for name in SERVICE_USER_OPTIONS if (value := _of_service_user(config, name)) is not None},
        server_auth_url=config.clients_keystone.auth_uri,
        clients=_clients(config),
        finder_cache_seconds=float(remembered),
        max_microversions={
            service: cap
            for service in ("nova", "cinder", "ironic")
            if (cap := config[f"max_{service}_api_microversion"]) is not None
        },
    )


def _of_service_user(config: cfg.ConfigOpts, name: str) -> Any:
    groups = [config[group] for group in (SERVICE_USER, TOKEN_CHECK) if group in config]
    return next((group[name] for group in groups if name in group and group[name] is not None), None)


def _clients(config: cfg.ConfigOpts) -> dict[str, ClientSettings]:
    sections = [group for group in OPTIONS if group == _CLIENTS or group.startswith(f"{_CLIENTS}_")]
    known = {item.name for item in fields(ClientSettings)}
    return {
        section.removeprefix(_CLIENTS).removeprefix("_"): ClientSettings(
            **{name: value for name, value in config[section].items() if name in known}
        )
        for section in sections
    }


def serving_threads(config: cfg.ConfigOpts, group: str) -> int:
    """Return the number of threads that serve requests of the API whose options are in `group`.

    A worker of Heat is a process that serves many requests at a time, so that one of them suffices. A request may need
    another one to the same process, for example for a stack in the stack's own region.
    """
    options = config[group]
    return THREADS_OF_A_WORKER * (options.workers or os.cpu_count() or 1)


def readers_of(config: cfg.ConfigOpts) -> int:
    """Return the maximum number of processes beside an embedded engine that serve reads."""
    most = config.engine.readers
    return _processors() - 1 if most is None else int(most)


def _processors() -> int:
    """Return how many processors this process may use, where the system tells, or how many there are."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable is not None else os.cpu_count() or 1


def server_limits(config: cfg.ConfigOpts, group: str) -> Limits:
    """Return the limits for clients of the API whose options are in `group`."""
    options = config[group]
    return Limits(
        body=config.max_json_body_size,
        connections=options.max_connections,
        backlog=options.backlog,
        head_seconds=options.head_timeout,
        body_seconds=options.body_timeout,
        idle_seconds=options.keepalive_timeout,
    )


def encryption_keys(config: cfg.ConfigOpts) -> list[str]:
    """Return the keys for secrets in the database; the first one encrypts.

    Raises cfg.Error for a key that is too short or public.
    """
    keys = [key.strip() for key in config.auth_encryption_key.split(",")]
    if min(len(key) for key in keys) < _SHORTEST_KEY:
        raise cfg.Error(f"[DEFAULT] auth_encryption_key: each key must have {_SHORTEST_KEY} characters or more")
    if PUBLIC_KEY in keys:
        raise cfg.Error(
            "[DEFAULT] auth_encryption_key: set a secret string, the same for all engines; the default value is public "
            "and therefore refused"
        )
    return keys


def engine_settings(config: cfg.ConfigOpts) -> EngineSettings:
    """Return the engine's settings; `type_options` are those that resource types may read.

    Raises cfg.Error for an unsupported deferred_auth_method, for a heartbeat that is too long for the lease and for
    default transports that no package offers, PluginInvalid for a package whose transports cannot be used,
    TemplateInvalid for an invalid file of the operator's environment, for an invalid price list and for
    invalid policies.
    """
    _check_lease(config)
    _check_transports(config)
    if config.deferred_auth_method != "trusts":
        raise cfg.Error(
            f"[DEFAULT] deferred_auth_method: {config.deferred_auth_method!r} is not supported, because Stoker does "
            "not store users' passwords; use trusts"
        )
    operator = OperatorEnvironment.read(config.environment_dir, config.template_dir)
    for problem in operator.problems:
        _log.warning("The operator's environment: %s", problem)
    policies, webhooks = _plan_policies(config.plan_policies_dir), _webhooks(config)
    if webhooks is None and (asking := next((policy for policy in policies if policy.webhook), None)):
        raise cfg.Error(
            f"[webhooks] secret must be set, since the policy {asking.name} of {asking.file} asks a webhook."
        )
    return EngineSettings(
        **_of_the_same_name(config, EngineSettings),
        region_name=config.region_name_for_services,
        validation_seconds=config.engine.validation_seconds,
        deleted_stacks_days=config.engine.deleted_stacks_days,
        deleted_stacks_kept=config.engine.deleted_stacks_kept,
        events_days=config.engine.events_days,
        operations_days=config.engine.operations_days,
        max_operations_per_stack=config.engine.max_operations_per_stack,
        archive_directory=config.engine.archive_directory,
        lease_seconds=config.engine.lease_seconds,
        heartbeat_seconds=config.engine.heartbeat_seconds,
        engine_deaths_limit=config.engine.deaths_limit,
        set_aside_seconds=config.engine.set_aside_seconds,
        yaql_limit_iterators=config.yaql.limit_iterators,
        yaql_memory_quota=config.yaql.memory_quota,
        evaluation_steps=config.evaluation.steps,
        evaluation_bytes=config.evaluation.bytes,
        evaluation_seconds=config.evaluation.seconds,
        evaluation_seconds_at_once=config.evaluation.seconds_at_once,
        evaluation_memory=config.evaluation.memory,
        operator=operator,
        plan_policies=policies,
        prices=PriceList.read(config.price_list) if config.price_list else None,
        change_control=read_file(config.change_control_file) if config.change_control_file else None,
        webhooks=webhooks,
        mail=_mail(config),
        type_options={
            **{option.dest: config[option.dest] for option in OPTIONS["DEFAULT"] if not option.secret},
            **config["volumes"],
            "clients_heat_insecure": _clients_insecure(config),
            "config_files": tuple(str(name) for name in config.config_file or ()),
        },
    )


def _webhooks(config: cfg.ConfigOpts) -> WebhookSettings | None:
    """Return the settings of webhooks; None if there are none. Raises Error."""
    webhooks = config.webhooks
    if not webhooks.secret:
        return None
    from stoker.base.webhooks import WebhookSettings, networks_of  # only with webhooks

    if len(webhooks.secret) < _SHORTEST_SECRET:
        raise cfg.Error(f"[webhooks] secret must have at least {_SHORTEST_SECRET} characters.")
    try:
        return WebhookSettings(webhooks.secret, webhooks.timeout, networks_of(webhooks.networks))
    except ValueError as error:
        raise cfg.Error(f"[webhooks] networks: {error}") from None


def _mail(config: cfg.ConfigOpts) -> MailSettings | None:
    """Return the settings of the SMTP server; None if there is none."""
    smtp = config.smtp
    if not smtp.host:
        return None
    from stoker.base.mail import MailSettings, Security  # only with mail

    return MailSettings(
        smtp.host,
        smtp.port,
        Security(smtp.security),
        smtp.user,
        smtp.password,
        smtp.sender,
        smtp.timeout,
        smtp.ca_file,
    )


def _plan_policies(directory: str | None) -> tuple[Policy, ...]:
    """Return the operator's policies on plans. Raises Invalid and TemplateInvalid as `read_directory`."""
    if not directory:
        return ()
    from stoker.engine.plan_policies.policy_files import read_directory  # only with policies

    return read_directory(directory, Source.OPERATOR)


def _check_transports(config: cfg.ConfigOpts) -> None:
    """Check that installed packages offer the default transports. NO_SIGNAL and its like are no default."""
    signals = [name for name in deployment_transports() if signal_transport(name).expected]
    for option, known in (
        ("default_software_config_transport", configuration_transports()),
        ("default_deployment_signal_transport", signals),
    ):
        if config[option] not in known:
            raise cfg.Error(f"[DEFAULT] {option}: {config[option]!r} is not one of {', '.join(sorted(known))}")


def _check_lease(config: cfg.ConfigOpts) -> None:
    """Check that a lease does not expire between two reports, nor because of a late one.

    Otherwise other engines would take over the engine's operations while it runs them.
    """
    lease, heartbeat = config.engine.lease_seconds, config.engine.heartbeat_seconds
    if heartbeat * _BEATS_IN_A_LEASE > lease:
        raise cfg.Error(
            f"[engine] heartbeat_seconds: {heartbeat:g} is too long for a lease of {lease:g} seconds ([engine] "
            f"lease_seconds); an engine must report itself {_BEATS_IN_A_LEASE} times in a lease, every "
            f"{lease / _BEATS_IN_A_LEASE:g} seconds or more often"
        )


def _clients_insecure(config: cfg.ConfigOpts) -> bool:
    own = config.clients_heat.insecure
    return bool(config.clients.insecure if own is None else own)


def _of_the_same_name(config: cfg.ConfigOpts, kind: type[Any]) -> dict[str, Any]:
    """Return values of `[DEFAULT]` for the fields of a dataclass of settings that have the name of an option."""
    option_names = {item.name for item in fields(kind)}
    values = {option.dest: config[option.dest] for option in OPTIONS["DEFAULT"] if option.dest in option_names}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
