"""Generate the page about the options of the configuration file from the table that registers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oslo_config import cfg

from stoker.base.options import LIBRARY_GROUPS, OPTIONS, SERVICE_USER_OPTIONS
from stoker.base.unused_options import ALL, WITHOUT_EFFECT
from stoker_reference.markdown import code, entry, page, section, sentence, table

_SERVICE_SECTION = "clients_"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page about configuration."""
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
            "Stoker reads `heat.conf` and keeps Heat's option names, types and defaults. The following options are "
            "supported. Every process logs a warning at start for each option in a file that [has no "
            "effect](#options-without-effect), with the reason, and for options that Stoker does not know.",
            f"The sections {libraries} belong to the libraries that read them, and the options of logging belong to "
            f"oslo.log. `[trustee]` contains the credentials of Stoker's own user: {users}. `[ec2authtoken]` may "
            "contain those of a separate user with whose token signatures are checked.",
            *sections,
            section(
                "Other services", f"The sections {others} override the options of `[clients]` for one service each."
            ),
            section("Options without effect", _without_effect()),
        ),
    )


def _without_effect() -> str:
    """Return the table of Heat's options that have no effect; those of a section with one reason share a row."""
    rows = []
    for group, options in WITHOUT_EFFECT.items():
        by_reason: dict[str, list[str]] = {}
        for name, reason in options.items():
            by_reason.setdefault(reason, []).append("all" if name == ALL else code(name))
        rows += [(code(f"[{group}]"), ", ".join(names), sentence(reason)) for reason, names in by_reason.items()]
    return table(("Section", "Option", "Why it has no effect"), rows)


def _options(group: str) -> str:
    return "\n\n".join(
        entry(
            option.name,
            f"opt-{group}-{option.name}",
            [" · ".join([_kind(option), f"default {_default(option)}"]), sentence(option.help or "")],
        )
        for option in OPTIONS[group]
    )


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
