"""Types of services and APIs that OpenStack no longer has: they are accepted, so that old templates still can be read.

Each accepts any properties, creates nothing, and every attribute is null, as in current releases of Heat.
"""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.heat.placeholder import Placeholder
from stoker.schema.property import Support

_HISTORY: dict[tuple[str, ...], tuple[str, ...]] = {
    ("HIDDEN 9.0.0", "DEPRECATED 7.0.0", "SUPPORTED 2014.1"): (
        "OS::Aodh::CombinationAlarm",
        "OS::Neutron::LoadBalancer",
        "OS::Neutron::PoolMember",
    ),
    ("HIDDEN 9.0.0", "DEPRECATED 7.0.0"): ("OS::Neutron::HealthMonitor", "OS::Neutron::Pool"),
    ("HIDDEN 10.0.0", "DEPRECATED 8.0.0", "SUPPORTED 5.0.0"): ("OS::Designate::Domain", "OS::Designate::Record"),
    ("HIDDEN 11.0.0", "DEPRECATED 9.0.0", "SUPPORTED 6.0.0"): ("OS::Magnum::Bay",),
    ("HIDDEN 21.0.0", "SUPPORTED 6.0.0"): (
        "OS::Neutron::LBaaS::HealthMonitor",
        "OS::Neutron::LBaaS::Listener",
        "OS::Neutron::LBaaS::LoadBalancer",
        "OS::Neutron::LBaaS::Pool",
        "OS::Neutron::LBaaS::PoolMember",
    ),
    ("HIDDEN 21.0.0", "SUPPORTED 7.0.0"): ("OS::Neutron::LBaaS::L7Policy", "OS::Neutron::LBaaS::L7Rule"),
    ("HIDDEN 23.0.0", "DEPRECATED 22.0.0", "SUPPORTED 2014.2"): (
        "OS::Sahara::ClusterTemplate",
        "OS::Sahara::NodeGroupTemplate",
    ),
    ("HIDDEN 23.0.0", "DEPRECATED 22.0.0", "SUPPORTED 5.0.0"): (
        "OS::Sahara::Cluster",
        "OS::Sahara::DataSource",
        "OS::Sahara::ImageRegistry",
        "OS::Sahara::JobBinary",
    ),
    ("HIDDEN 23.0.0", "DEPRECATED 22.0.0", "SUPPORTED 6.0.0"): (
        "OS::Senlin::Cluster",
        "OS::Senlin::Node",
        "OS::Senlin::Policy",
        "OS::Senlin::Profile",
        "OS::Senlin::Receiver",
    ),
    ("HIDDEN 23.0.0", "DEPRECATED 22.0.0", "SUPPORTED 8.0.0"): ("OS::Sahara::Job",),
    ("HIDDEN 25.0.0", "DEPRECATED 22.0.0", "SUPPORTED 7.0.0", "SUPPORTED 5.0.0"): ("OS::Monasca::Notification",),
    ("HIDDEN 25.0.0", "DEPRECATED 22.0.0", "SUPPORTED 7.0.0", "UNSUPPORTED 5.0.0"): ("OS::Monasca::AlarmDefinition",),
    ("HIDDEN 27.0.0", "DEPRECATED 26.0.0", "SUPPORTED 16.0.0"): ("OS::Vitrage::Template",),
}
"""Names of types by the history of their support status, latest first."""

_SERVICES = {"OS::Aodh::CombinationAlarm": "aodh"}


def _support(history: tuple[str, ...]) -> Support:
    support: Support | None = None
    for entry in reversed(history):
        status, _, version = entry.partition(" ")
        support = Support(status, version, previous=support)
    assert support is not None, "a history has at least one entry"
    return support


def _declared(name: str, history: tuple[str, ...]) -> type[ResourceType]:
    declarations = {
        "__doc__": f"{name}, which creates nothing.",
        "type_name": name,
        "description": "Creates nothing; the service or API that it was for no longer exists.",
        "service": _SERVICES.get(name),
        "support": _support(history),
    }
    return type(name.replace("::", ""), (Placeholder,), declarations)


TYPES: tuple[type[ResourceType], ...] = tuple(
    _declared(name, history) for history, names in _HISTORY.items() for name in names
)
