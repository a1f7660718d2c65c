"""Reading the configuration: the options of `stoker.base.options`, and those of the libraries that are used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from keystoneauth1 import loading
from oslo_config import cfg
from oslo_log import log

from stoker import __version__
from stoker.base.options import LOGINS, OPTIONS, SERVICE_USER_OPTIONS

_LOCATION, _PLACE = re.compile(r"LocationInfo\(location=<[^>]*>, detail=(['\"])(.*?)\1\)"), r"\2"
"""How oslo.config shows the location of a value, and the part of it that operators need: the file's path."""

_SERVICE_USER_PLUGINS = ("password", "v3password")


def load_config(
    args: Sequence[str] = (),
    files: Sequence[str] | None = None,
    register: Callable[[cfg.ConfigOpts], None] | None = None,
    prog: str = "stoker",
) -> cfg.ConfigOpts:
    """Read the configuration.

    `args` are command-line arguments (`--config-file`, `--debug` …), `files` the paths of files in the order in which
    they override each other. With None, `heat.conf`, `PROG.conf` and the directories `heat.conf.d` and `PROG.conf.d`
    are looked for where OpenStack's services have them: `~/.heat`, `~`, `/etc/heat`, `/etc`. `register` declares
    options of further libraries that the process uses. Raises oslo_config.cfg.Error with a message for the operator
    when a value is not acceptable.
    """
    config = cfg.ConfigOpts()
    register_options(config)
    if register is not None:
        register(config)
    default_files = list(files) if files is not None else cfg.find_config_files(project="heat", prog=prog)
    try:
        config(
            args=list(args),
            project="heat",
            prog=prog,
            version=__version__,
            default_config_files=default_files,
            default_config_dirs=None if files is None else [],
        )
    except UnicodeDecodeError as error:
        raise cfg.Error(f"{_not_in_utf8(default_files)}: the file is not in UTF-8 ({error.reason})") from None
    for group in LOGINS:
        config.register_opts(
            [option for option in _credentials(config, group) if option.dest not in config[group]], group
        )
    _check(config)
    return config


def register_options(config: cfg.ConfigOpts) -> None:
    """Register every option of Stoker on `config`."""
    for group, options in OPTIONS.items():
        config.register_opts(options, group=None if group == "DEFAULT" else group)
    for group in LOGINS:
        loading.register_auth_conf_options(config, group)
    log.register_options(config)


def shown_options(config: cfg.ConfigOpts) -> dict[str, Any]:
    """Return the value of every option of Stoker by `[section] name`, with secret ones redacted."""
    return {
        f"[{group}] {option.name}": "***"
        if option.secret
        else (config if group == "DEFAULT" else config[group])[option.dest]
        for group, options in OPTIONS.items()
        for option in options
    }


def known_options(config: cfg.ConfigOpts) -> set[tuple[str, str]]:
    """Return `(section, name)` of each option that is registered, in all its spellings."""
    known = {("DEFAULT", name) for name in config}
    for group in OPTIONS:
        if group != "DEFAULT":
            known.update((group, name) for name in config[group])
    for group in LOGINS:
        credentials = [loading.get_auth_common_conf_options()[0], *_credentials(config, group)]
        spellings = {option.name for option in credentials}
        spellings |= {old.name for option in credentials for old in option.deprecated_opts if old.name}
        known |= {(group, name) for text in spellings for name in (text, text.replace("-", "_"))}
    return known - {(group, "auth_section") for group in LOGINS}


def _not_in_utf8(paths: Iterable[str]) -> str:
    """Return which of the files cannot be decoded as UTF-8."""
    for path in paths:
        try:
            Path(path).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return path
    return "a file of --config-file or --config-dir"


def _credentials(config: cfg.ConfigOpts, group: str) -> list[cfg.Opt]:
    name = config[group].auth_type or _SERVICE_USER_PLUGINS[0]
    if name not in _SERVICE_USER_PLUGINS:
        raise cfg.Error(
            f"[{group}] auth_type: {name!r} is not supported; use one of {', '.join(_SERVICE_USER_PLUGINS)}"
        )
    plugin: loading.BaseLoader[Any] = loading.get_plugin_loader(name)
    options: list[cfg.Opt] = loading.get_auth_plugin_conf_options(plugin)
    return [option for option in options if option.dest in SERVICE_USER_OPTIONS]


def _check(config: cfg.ConfigOpts) -> None:
    """Read every value once, so that an invalid one is reported at start and not when it is first needed."""
    for group, options in OPTIONS.items():
        values = config if group == "DEFAULT" else config[group]
        for option in options:
            try:
                values[option.dest]
            except ValueError as error:
                raise cfg.Error(f"[{group}] {option.name}: {_LOCATION.sub(_PLACE, str(error))}") from error
