"""The names under which plug-ins import the classes of Heat's resource types, and the types that they stand for.

Each class is made when its module is imported. Types whose object is a nested stack are not among them, since their
definition is not in methods that a derived class could extend.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_RESOURCES = "heat.engine.resources"

_OPENSTACK: Mapping[str, Mapping[str, str]] = {
    "barbican.secret": {"Secret": "OS::Barbican::Secret"},
    "cinder.volume": {
        "CinderVolume": "OS::Cinder::Volume",
        "CinderVolumeAttachment": "OS::Cinder::VolumeAttachment",
    },
    "cinder.volume_type": {"CinderVolumeType": "OS::Cinder::VolumeType"},
    "designate.recordset": {"DesignateRecordSet": "OS::Designate::RecordSet"},
    "designate.zone": {"DesignateZone": "OS::Designate::Zone"},
    "heat.cloud_config": {"CloudConfig": "OS::Heat::CloudConfig"},
    "heat.random_string": {"RandomString": "OS::Heat::RandomString"},
    "heat.software_config": {"SoftwareConfig": "OS::Heat::SoftwareConfig"},
    "heat.structured_config": {"StructuredConfig": "OS::Heat::StructuredConfig"},
    "heat.value": {"Value": "OS::Heat::Value"},
    "heat.wait_condition": {"HeatWaitCondition": "OS::Heat::WaitCondition"},
    "heat.wait_condition_handle": {"HeatWaitConditionHandle": "OS::Heat::WaitConditionHandle"},
    "keystone.group": {"KeystoneGroup": "OS::Keystone::Group"},
    "keystone.project": {"KeystoneProject": "OS::Keystone::Project"},
    "keystone.role": {"KeystoneRole": "OS::Keystone::Role"},
    "keystone.user": {"KeystoneUser": "OS::Keystone::User"},
    "manila.share": {"ManilaShare": "OS::Manila::Share"},
    "neutron.floatingip": {
        "FloatingIP": "OS::Neutron::FloatingIP",
        "FloatingIPAssociation": "OS::Neutron::FloatingIPAssociation",
    },
    "neutron.net": {"Net": "OS::Neutron::Net"},
    "neutron.port": {"Port": "OS::Neutron::Port"},
    "neutron.provider_net": {"ProviderNet": "OS::Neutron::ProviderNet"},
    "neutron.qos": {"QoSPolicy": "OS::Neutron::QoSPolicy"},
    "neutron.router": {
        "Router": "OS::Neutron::Router",
        "RouterGateway": "OS::Neutron::RouterGateway",
        "RouterInterface": "OS::Neutron::RouterInterface",
    },
    "neutron.security_group": {"SecurityGroup": "OS::Neutron::SecurityGroup"},
    "neutron.security_group_rule": {"SecurityGroupRule": "OS::Neutron::SecurityGroupRule"},
    "neutron.subnet": {"Subnet": "OS::Neutron::Subnet"},
    "neutron.subnetpool": {"SubnetPool": "OS::Neutron::SubnetPool"},
    "neutron.trunk": {"Trunk": "OS::Neutron::Trunk"},
    "nova.flavor": {"NovaFlavor": "OS::Nova::Flavor"},
    "nova.keypair": {"KeyPair": "OS::Nova::KeyPair"},
    "nova.server": {"Server": "OS::Nova::Server"},
    "nova.server_group": {"ServerGroup": "OS::Nova::ServerGroup"},
    "octavia.health_monitor": {"HealthMonitor": "OS::Octavia::HealthMonitor"},
    "octavia.listener": {"Listener": "OS::Octavia::Listener"},
    "octavia.loadbalancer": {"LoadBalancer": "OS::Octavia::LoadBalancer"},
    "octavia.pool": {"Pool": "OS::Octavia::Pool"},
    "octavia.pool_member": {"PoolMember": "OS::Octavia::PoolMember"},
    "swift.container": {"SwiftContainer": "OS::Swift::Container"},
    "zaqar.queue": {"ZaqarQueue": "OS::Zaqar::Queue"},
}

MODULES: Mapping[str, Mapping[str, str]] = {
    **{f"{_RESOURCES}.openstack.{module}": classes for module, classes in _OPENSTACK.items()},
    **{f"{_RESOURCES}.{module}": classes for module, classes in _OPENSTACK.items() if module.startswith("neutron.")},
    f"{_RESOURCES}.server": _OPENSTACK["nova.server"],
}
"""The classes in each module: their names, and the types that they stand for. Neutron's and `server` have their places
of before 2015, too."""

_PACKAGES = frozenset(module.rpartition(".")[0] for module in MODULES)


class _Loader(Loader):
    """Makes the classes of a module."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        from stoker_heat_plugins.built_in import class_for

        for name, type_name in MODULES.get(module.__name__, {}).items():
            setattr(module, name, class_for(module.__name__, name, type_name))


class _Finder(MetaPathFinder):
    """Finds the modules in `MODULES`, and the packages that contain them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in MODULES or fullname in _PACKAGES:
            return ModuleSpec(fullname, _Loader(), is_package=fullname in _PACKAGES)
        return None


_FINDER = _Finder()


def install() -> None:
    """Make the modules importable; those that exist as files come first."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)
