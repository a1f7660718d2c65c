"""Swift: containers of the object store."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Swift::Container": "container:Container",
    },
)
