"""Options of the configuration file, from the table that registers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oslo_config import cfg

from stoker.base.config import LIBRARY_GROUPS, OPTIONS, SERVICE_USER_OPTIONS
from stoker_reference.markdown import code, page, section, sentence, table

_SERVICE_SECTION = "clients_"


def pages() -> Iterator[tuple[str, str]]:
    """The one page about configuration."""
    services = [group for group in OPTIONS if group.startswith(_SERVICE_SECTION)]
    own = {group for group in services if group in ("clients_heat", "clients_keystone")}
    sections = [section(f"[{group}]", _options(group)) for group in OPTIONS if group not in services or group in own]
    others = ", ".join(code(f"[{group}]") for group in services if group not in own)
    libraries = ", ".join(code(f"[{group}]") for group in sorted(LIBRARY_GROUPS))
    users = ", ".join(code(name) for name in ("auth_type", *SERVICE_USER_OPTIONS))
    yield (
        "configuration.md",
        page(
            "Configuration",
            "Stoker reads `heat.conf` and keeps its option names, types and defaults. These are all options that it "
            "honours; any other that a file sets is named in a warning at start.",
            f"The sections {libraries} are read by the libraries that they belong to, and the options of logging by "
            f"oslo.log. `[trustee]` is the user as whom Stoker acts: {users}.",
            *sections,
            section("Other services", f"{others} have the options of `[clients]`, for one service each."),
        ),
    )


def _options(group: str) -> str:
    rows = [
        (code(option.name), _kind(option), _default(option), sentence(option.help or "")) for option in OPTIONS[group]
    ]
    return table(("Option", "Type", "Default", "Meaning"), rows)


def _kind(option: cfg.Opt) -> str:
    choices = getattr(option.type, "choices", None)
    if choices:
        return "one of " + ", ".join(code(choice) for choice in choices)
    name = str(getattr(option.type, "type_name", option.type)).removesuffix(" value")
    least, most = getattr(option.type, "min", None), getattr(option.type, "max", None)
    if most is not None:
        return f"{name}, {least or 0} to {most}"
    return name if least is None else f"{name}, {least} or more"


def _default(option: cfg.Opt) -> str:
    value: Any = option.sample_default if option.sample_default is not None else option.default
    if option.secret and value is not None:
        return "set it"
    return "none" if value is None else code(value)
