"""Options of middleware in `api-paste.ini`, the file that describes the pipelines of Heat's API.

Stoker has no pipelines: its middleware is enabled by options. Filters of the pipelines of the API set these options,
so that a file with an operator's changes keeps its effect.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, SectionProxy
from configparser import Error as SyntaxInvalid
from pathlib import Path

from oslo_config import cfg

_FILTER, _FACTORY = "filter:", "paste.filter_factory"
_PIPELINES = ("pipeline:", "composite:")

SECTIONS: Mapping[str, str] = {
    "oslo_middleware.cors": "cors",
    "oslo_middleware.healthcheck": "healthcheck",
    "oslo_middleware.http_proxy_to_wsgi": "oslo_middleware",
}
"""Module of a filter's factory → the section of heat.conf with the options of this middleware."""

_CLASSES = {
    "oslo_middleware:CORS": "oslo_middleware.cors",
    "oslo_middleware:Healthcheck": "oslo_middleware.healthcheck",
    "oslo_middleware:HTTPProxyToWSGI": "oslo_middleware.http_proxy_to_wsgi",
}
"""Other spellings of factories."""

_BUILT_IN = (
    "heat.", "keystonemiddleware.auth_token", "oslo_middleware.request_id", "oslo_middleware:RequestId",
    "oslo_middleware.sizelimit",
)  # fmt: skip
"""Prefixes of the factories of filters that Stoker's API always has; heat.conf has their options."""

_GENERAL = (_FACTORY, "use", "oslo_config_project", "oslo_config_program", "oslo_config_file")
"""Keys of a filter's section that are not options of the middleware."""

_NO_DEFAULTS = ""
"""paste passes the section `[DEFAULT]` to filters apart from their own options."""

_log = logging.getLogger(__name__)


def apply_paste_filters(config: cfg.ConfigOpts) -> None:
    """Override options of `config` with those of the filters in `[paste_deploy] api_paste_config`.

    The file is looked for beside the configuration files; it need not exist. Logs a warning that names the filters and
    options that have no effect. Raises cfg.Error for a file that cannot be read, or an unacceptable value.
    """
    path = config.find_file(config.paste_deploy.api_paste_config)
    if path is None:
        return
    without_effect = []
    for name, section in _filters(Path(path)):
        factory = section.get(_FACTORY, "").strip()
        module = _CLASSES.get(factory.partition(".factory")[0], factory.partition(":")[0])
        group = SECTIONS.get(module)
        options = {key: value for key, value in section.items() if key not in _GENERAL}
        if group is None and not factory.startswith(_BUILT_IN):
            without_effect.append(name)
            continue
        known = set(config[group]) if group is not None else set()
        for key, value in options.items():
            if key not in known:
                without_effect.append(f"{name}: {key}")
                continue
            try:
                config.set_override(key, value, group=group)
            except ValueError as error:
                raise cfg.Error(f"{path}: [{_FILTER}{name}] {key}: {error}") from error
    if without_effect:
        _log.warning("Filters and options of %s that have no effect in Stoker: %s", path, ", ".join(without_effect))


def _filters(path: Path) -> Iterator[tuple[str, SectionProxy]]:
    """Yield the filters that a pipeline of the file uses, with their sections."""
    parser = ConfigParser(interpolation=None, strict=False, default_section=_NO_DEFAULTS)
    try:
        parser.read_string(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError, SyntaxInvalid) as error:
        raise cfg.Error(f"[paste_deploy] api_paste_config: {path} cannot be read: {error}") from error
    used = {
        word
        for name in parser.sections()
        if name.startswith(_PIPELINES)
        for value in parser[name].values()
        for word in value.split()
    }
    for name in parser.sections():
        if name.startswith(_FILTER) and name.removeprefix(_FILTER) in used:
            yield name.removeprefix(_FILTER), parser[name]
