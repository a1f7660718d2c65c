"""Manila: shares, share types, share networks and security services."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Manila::SecurityService": "security_service:SecurityService",
        "OS::Manila::Share": "share:Share",
        "OS::Manila::ShareNetwork": "share_network:ShareNetwork",
        "OS::Manila::ShareType": "share_type:ShareType",
    },
)
