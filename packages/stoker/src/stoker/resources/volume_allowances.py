"""What volumes take of Cinder's quotas."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.preflight import Allowance, Consumption, Facts, Planned, Quota, size, used_and_reserved

_SOURCES = ("snapshot_id", "source_volid", "backup_id", "SnapshotId")


async def _quota_set(facts: Facts) -> Mapping[str, Allowance]:
    quota = (await facts.get("cinder", f"/os-quota-sets/{facts.project_id}?usage=True"))["quota_set"]
    return {name: used_and_reserved(row, "in_use") for name, row in quota.items() if isinstance(row, Mapping)}


VOLUMES = Quota("cinder", "volumes", "volumes", _quota_set)
GIGABYTES = Quota("cinder", "gigabytes", "GiB of volumes and snapshots", _quota_set)
LARGEST_VOLUME = Quota("cinder", "per_volume_gigabytes", "GiB of one volume", _quota_set, of_each=True)


async def _type_name(planned: Planned, facts: Facts) -> str | None:
    """Return the name of a volume's type; None for a volume whose type its source decides, or that is not known."""
    value = planned.properties.get("volume_type")
    if value is None:
        if any(planned.properties.get(source) is not None for source in _SOURCES):
            return None
        default = (await facts.get("cinder", "/types/default")).get("volume_type") or {}
        return default.get("name")
    if planned.known("volume_type") is None:
        return None
    types = await facts.list("cinder", "/types", "volume_types")
    return next((str(each["name"]) for each in types if value in (each["id"], each["name"])), None)


def volume(size_property: str) -> tuple[Consumption, ...]:
    """Return the consumption of a volume whose size is that property."""
    amount = size(size_property)
    return (
        Consumption(VOLUMES),
        Consumption(GIGABYTES, amount, size_property),
        Consumption(LARGEST_VOLUME, amount, size_property),
        Consumption(VOLUMES, at="volume_type", variant=_type_name),
        Consumption(GIGABYTES, amount, size_property, variant=_type_name),
    )
