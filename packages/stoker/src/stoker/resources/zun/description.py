"""The description of a container that is sent to Zun, and the rules of its properties."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from stoker.resources.wire import without_nulls
from stoker.schema.unknown import is_unknown

TTY_VERSION = "1.36"
"""The microversion that has `tty`."""
COMMAND_LIST_VERSION = "1.20"
"""The microversion from which on a command is a list of words."""
POLICIES = ("no", "always", "unless-stopped", "on-failure")


def problems(properties: Mapping[str, object]) -> Iterable[str]:
    """Yield what is wrong with the values, which may be unknown at any depth."""
    policy = properties.get("restart_policy")
    if policy and not is_unknown(policy):
        yield from _policy_problems(str(policy))
    command = properties.get("command")
    if command and not is_unknown(command):
        yield from _command_problems(str(command))
    for index, mount in _entries(properties.get("mounts")):
        given = [name for name in ("volume_id", "volume_size") if mount.get(name) is not None]
        if len(given) != 1 and not (given and any(is_unknown(mount[name]) for name in given)):
            yield f"mounts[{index}]: exactly one of volume_id and volume_size must be given"
    for index, entry in _entries(properties.get("networks")):
        if entry.get("network") is None and entry.get("port") is None:
            yield f"networks[{index}]: network or port must be given"
        port, address = entry.get("port"), entry.get("fixed_ip")
        if port is not None and address is not None and not is_unknown(port) and not is_unknown(address):
            yield f"networks[{index}]: fixed_ip cannot be used together with port, which has addresses of its own"


def _entries(value: Any) -> Iterable[tuple[int, Mapping[str, Any]]]:
    entries = value if isinstance(value, list) else []
    return [(index, entry) for index, entry in enumerate(entries) if isinstance(entry, Mapping)]


def _policy_problems(policy: str) -> Iterable[str]:
    name, colon, count = policy.partition(":")
    if name not in POLICIES:
        yield f"restart_policy must be one of {', '.join(POLICIES)}, not {policy!r}"
    elif colon and name != "on-failure":
        yield f"restart_policy {policy!r}: only on-failure can have a number of retries"
    elif colon and not (count.isascii() and count.isdigit()):
        yield f"restart_policy {policy!r}: the number of retries must be a non-negative integer"


def _command_problems(command: str) -> Iterable[str]:
    try:
        shlex.split(command)
    except ValueError as error:
        yield f"command cannot be split into words: {error}"


def restart_policy(text: str) -> dict[str, str]:
    """Return a restart policy (`on-failure:3`) as Zun expects it."""
    name, _, count = text.partition(":")
    return {"Name": name, "MaximumRetryCount": count or "0"}


def command(text: str, microversion: str | None) -> list[str] | str:
    """Return a command as a list of words, or for older microversions as a string of quoted words."""
    words = shlex.split(text)
    if microversion is not None:
        return words
    return " ".join('"{}"'.format(word.replace("\\", "\\\\").replace('"', '\\"')) for word in words)


def nets(networks: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the networks of a container as Zun expects them."""
    return [_net(entry) for entry in networks]


def _net(entry: Mapping[str, Any]) -> dict[str, object]:
    found = without_nulls({"network": entry.get("network"), "port": entry.get("port")})
    if entry.get("fixed_ip") is not None and entry.get("port") is None:
        found[f"v{ip_address(entry['fixed_ip']).version}-fixed-ip"] = entry["fixed_ip"]
    return found


def mounts(declared: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the mounts of a container as Zun expects them."""
    return [
        without_nulls(
            {"destination": one["mount_path"], "source": one.get("volume_id"), "size": one.get("volume_size")}
        )
        for one in declared
    ]
