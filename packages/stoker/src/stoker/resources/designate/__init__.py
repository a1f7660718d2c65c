"""Designate: zones, and the record sets in them."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Designate::RecordSet": "record_set:RecordSet",
        "OS::Designate::Zone": "zone:Zone",
    },
)
