"""`clouds.yaml` and `secure.yaml`, read as OpenStack clients read them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoker.base.errors import Invalid


@dataclass(frozen=True, slots=True)
class NamedCloud:
    """One entry: how to log in, and how to find the endpoints.

    `orchestration` is the URL of an orchestration service that is not in the cloud's catalog, with `%(project_id)s` for
    the project.
    """

    auth_type: str
    auth: Mapping[str, Any]
    region_name: str | None = None
    interface: str | None = None
    ca_file: str | None = None
    insecure: bool = False
    orchestration: str | None = None


def read_cloud(name: str, folders: tuple[Path, ...] | None = None) -> NamedCloud:
    """Read the entry `name` of the first `clouds.yaml` found, with secrets from `secure.yaml`.

    `folders` replaces the usual places: the working directory, `~/.config/openstack`, `/etc/openstack`; the variable
    `OS_CLIENT_CONFIG_FILE` names a file that precedes them. Raises Invalid with the places that were searched.
    """
    clouds = _clouds(_candidates("clouds.yaml", "OS_CLIENT_CONFIG_FILE", folders))
    secure = _clouds(_candidates("secure.yaml", "OS_CLIENT_SECURE_FILE", folders))
    if name not in clouds:
        known = ", ".join(sorted(clouds)) or "none"
        raise Invalid(f"clouds.yaml has no cloud {name!r}; its clouds are: {known}.")
    return named_cloud(name, _merge(clouds[name] or {}, secure.get(name) or {}))


def named_cloud(name: str, entry: Mapping[str, Any]) -> NamedCloud:
    """Return the cloud of an entry of `clouds.yaml`. Raises Invalid for one that is not supported."""
    if "profile" in entry or "cloud" in entry:
        raise Invalid(
            f"The cloud {name!r} in clouds.yaml uses a vendor profile, which is not supported; set its auth_url."
        )
    verify = entry.get("verify", True)
    return NamedCloud(
        auth_type=entry.get("auth_type", "password"),
        auth=entry.get("auth") or {},
        region_name=entry.get("region_name"),
        interface=entry.get("interface"),
        ca_file=entry.get("cacert"),
        insecure=verify in (False, "false", "False", "no") or bool(entry.get("insecure", False)),
        orchestration=entry.get("orchestration_endpoint_override"),
    )


def _candidates(file_name: str, variable: str, folders: tuple[Path, ...] | None) -> list[Path]:
    if folders is None:
        folders = (Path.cwd(), Path.home() / ".config" / "openstack", Path("/etc/openstack"))
    named = os.environ.get(variable)
    return ([Path(named)] if named else []) + [folder / file_name for folder in folders]


def _clouds(candidates: list[Path]) -> dict[str, Any]:
    import yaml  # the commands of which some read this file start without it

    for path in candidates:
        if path.is_file():
            document = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
            clouds = document.get("clouds") if isinstance(document, dict) else None
            if not isinstance(clouds, dict):
                raise Invalid(f"{path} has no mapping `clouds`.")
            return clouds
    return {}


def _merge(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, object]:
    merged = dict(under)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if both else value
    return merged
