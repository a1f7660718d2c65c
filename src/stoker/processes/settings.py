"""From heat.conf's options to the settings that the parts of a process take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from keystoneauth1 import loading
from oslo_config import cfg

from stoker.base.config import OPTIONS
from stoker.cloud.settings import ClientSettings, CloudSettings
from stoker.engine.settings import EngineSettings

TOKEN_CHECK = "keystone_authtoken"  # noqa: S105  the name of a section
SERVICE_USER = "trustee"

_SERVICE_USER_OPTIONS = (
    "auth_url", "username", "password", "user_domain_name", "user_domain_id", "project_name", "project_domain_name",
    "project_domain_id",
)  # fmt: skip
_CLIENTS = "clients"


def set_login(config: cfg.ConfigOpts, group: str, auth_type: str, auth: Mapping[str, Any]) -> None:
    """Let `group` log in by a plug-in of keystoneauth, where the configuration files do not say otherwise.

    `auth` has the plug-in's options by their names in clouds.yaml; those that it does not know are passed over, as
    every client of OpenStack does.
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
    """How services are called. `[trustee]` is the service user; what it leaves out `[keystone_authtoken]` says."""
    return CloudSettings(
        **_of_the_same_name(config, CloudSettings),
        **{name: value for name in _SERVICE_USER_OPTIONS if (value := _of_service_user(config, name)) is not None},
        clients=_clients(config),
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


def engine_settings(config: cfg.ConfigOpts) -> EngineSettings:
    """The engine's limits and habits; `type_options` are those that resource types may look at."""
    return EngineSettings(
        **_of_the_same_name(config, EngineSettings),
        region_name=config.region_name_for_services,
        type_options={
            **{option.dest: config[option.dest] for option in OPTIONS["DEFAULT"] if not option.secret},
            **config["volumes"],
        },
    )


def _of_the_same_name(config: cfg.ConfigOpts, kind: type[Any]) -> dict[str, Any]:
    """Values of `[DEFAULT]` for the fields of a dataclass of settings that bear an option's name."""
    wanted = {item.name for item in fields(kind)}
    values = {option.dest: config[option.dest] for option in OPTIONS["DEFAULT"] if option.dest in wanted}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
