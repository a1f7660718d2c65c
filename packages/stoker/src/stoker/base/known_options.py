"""The options that a configuration knows, by section, and which of them is meant by an unknown one."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from keystoneauth1 import loading
from oslo_config import cfg

from stoker.base.options import LOGINS, OPTIONS, SERVICE_USER_OPTIONS
from stoker.base.similar import Suggestion, closest

_SERVICE_USER_PLUGINS = ("password", "v3password")


def known_options(config: cfg.ConfigOpts) -> set[tuple[str, str]]:
    """Return `(section, name)` of each option that is registered, in all its spellings. Raises cfg.Error for a kind of
    login that is not supported.
    """
    known = {("DEFAULT", name) for name in config}
    for group in OPTIONS:
        if group != "DEFAULT":
            known.update((group, name) for name in config[group])
    for group in LOGINS:
        options = [loading.get_auth_common_conf_options()[0], *credentials(config, group)]
        spellings = {option.name for option in options}
        spellings |= {old.name for option in options for old in option.deprecated_opts if old.name}
        known |= {(group, name) for text in spellings for name in (text, text.replace("-", "_"))}
    return known - {(group, "auth_section") for group in LOGINS}


def credentials(config: cfg.ConfigOpts, group: str) -> list[cfg.Opt]:
    """Return the options of the login in a section. Raises cfg.Error for a kind of login that is not supported."""
    name = config[group].auth_type or _SERVICE_USER_PLUGINS[0]
    if name not in _SERVICE_USER_PLUGINS:
        raise cfg.Error(
            f"[{group}] auth_type: {name!r} is not supported; use one of {', '.join(_SERVICE_USER_PLUGINS)}"
        )
    plugin: loading.BaseLoader[Any] = loading.get_plugin_loader(name)
    options: list[cfg.Opt] = loading.get_auth_plugin_conf_options(plugin)
    return [option for option in options if option.dest in SERVICE_USER_OPTIONS]


def suggested_option(known: AbstractSet[tuple[str, str]], group: str, name: str) -> str | None:
    """Return a hint for an unknown option: the nearest name of the section, or the section that is meant."""
    names = {other for section, other in known if section == group}
    if (close := closest(name, names)) is not None:
        return Suggestion(name, close)
    homes = {section for section, other in known if other == name}
    if len(homes) == 1:
        return f"it belongs to the section [{homes.pop()}]"
    if not names and (section := closest(group, {section for section, _ in known})) is not None:
        return f"did you mean the section [{section}]?"
    return None
