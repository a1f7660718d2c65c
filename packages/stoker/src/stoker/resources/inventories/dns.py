"""Inventories of Designate's types."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.inventory import Fields

_OF_THE_ZONE = ("NS", "SOA")


def _zone(values: Mapping[str, object], zone: Fields) -> Fields:
    """Secondary zones have no address and no TTL of their own."""
    absent = ("email", "ttl") if zone.get("type") == "SECONDARY" else ("primaries",)
    return {name: value for name, value in values.items() if name not in absent}


def _record_set_left_out(records: Fields) -> str:
    if records["type"] in _OF_THE_ZONE and records["name"] == records.get("zone_name"):
        return "the DNS service makes it for the zone"
    return ""


ROWS: Mapping[str, Mapping[str, object]] = {
    "OS::Designate::Zone": {"describe": _zone},
    "OS::Designate::RecordSet": {"left_out": _record_set_left_out},
}
