"""Hints for misspelt names of resource types."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.base.similar import Suggestion, closest

_ELSEWHERE = 0.9  # a name outside of the known namespaces is rather a type of the author's own than a misspelt one

_SIMILAR_SERVICE = 0.75
"""The similarity of a service's name to a known one, of which there are few."""
_WHOLE = 0.85
"""The similarity of whole names, which have their beginnings in common in any case."""

_USUAL = {
    "AWS::EC2::Address": "AWS::EC2::EIP",
    "AWS::EC2::ElasticIP": "AWS::EC2::EIP",
    "AWS::EC2::Server": "AWS::EC2::Instance",
    "AWS::ElasticLoadBalancingV2::LoadBalancer": "AWS::ElasticLoadBalancing::LoadBalancer",
    "OS::Barbican::Container": "OS::Barbican::GenericContainer",
    "OS::Cinder::Disk": "OS::Cinder::Volume",
    "OS::Cinder::VolumeEncryption": "OS::Cinder::EncryptedVolumeType",
    "OS::Designate::Record": "OS::Designate::RecordSet",
    "OS::Heat::Deployment": "OS::Heat::SoftwareDeployment",
    "OS::Heat::Group": "OS::Heat::ResourceGroup",
    "OS::Heat::Random": "OS::Heat::RandomString",
    "OS::Heat::ScalingGroup": "OS::Heat::AutoScalingGroup",
    "OS::Heat::Wait": "OS::Heat::WaitCondition",
    "OS::Keystone::Tenant": "OS::Keystone::Project",
    "OS::Manila::SharedNetwork": "OS::Manila::ShareNetwork",
    "OS::Neutron::Floatingip": "OS::Neutron::FloatingIP",
    "OS::Neutron::Gateway": "OS::Neutron::RouterGateway",
    "OS::Neutron::Interface": "OS::Neutron::RouterInterface",
    "OS::Neutron::Network": "OS::Neutron::Net",
    "OS::Neutron::ProviderNetwork": "OS::Neutron::ProviderNet",
    "OS::Neutron::SecGroup": "OS::Neutron::SecurityGroup",
    "OS::Nova::Image": "OS::Glance::WebImage",
    "OS::Nova::Instance": "OS::Nova::Server",
    "OS::Nova::Network": "OS::Neutron::Net",
    "OS::Nova::Port": "OS::Neutron::Port",
    "OS::Nova::SecurityGroup": "OS::Neutron::SecurityGroup",
    "OS::Nova::VM": "OS::Nova::Server",
    "OS::Nova::Volume": "OS::Cinder::Volume",
    "OS::Nova::VolumeAttachment": "OS::Cinder::VolumeAttachment",
    "OS::Swift::Bucket": "OS::Swift::Container",
    "OS::Swift::Object": "OS::Swift::Container",
}
"""What people write, and the type that they mean."""

_SERVICES = {
    "block": "Cinder",
    "blockstorage": "Cinder",
    "compute": "Nova",
    "dns": "Designate",
    "identity": "Keystone",
    "image": "Glance",
    "loadbalancer": "Octavia",
    "network": "Neutron",
    "networking": "Neutron",
    "objectstorage": "Swift",
    "orchestration": "Heat",
    "volume": "Cinder",
}
"""What the services of OpenStack do, as people write it in place of their names in types."""


def intended_type(name: str, known: Sequence[str]) -> str | None:
    """Return the type that `name`, which does not exist, is to be: for a usual misnomer, difference of case, or
    misspelling; None for other names.
    """
    meant = _USUAL.get(name) or next((known_name for known_name in known if known_name.lower() == name.lower()), None)
    if meant in known:
        return meant
    if not _has_known_namespace(name, known):
        return _with_vendor(name, known) or closest(name, known, _ELSEWHERE)
    return _of_service(name, known) or _with_last_part(name, known) or closest(name, known, _WHOLE)


def _with_vendor(name: str, known: Sequence[str]) -> str | None:
    """Return the type whose name a name without vendor is the end of."""
    return next(
        (known_name for known_name in known if "::" in name and known_name.lower().endswith(f"::{name.lower()}")), None
    )


def _of_service(name: str, known: Sequence[str]) -> str | None:
    """Return the type of the service that `name` names, perhaps misspelt, whose name within it is the closest."""
    vendor, _, rest = name.partition("::")
    service, _, last = rest.partition("::")
    of_vendor = _of_vendor(vendor, known)
    services = {known_name.split("::")[1] for known_name in of_vendor}
    meant = _SERVICES.get(service.lower()) or closest(service, services, _SIMILAR_SERVICE)
    of_service = {
        known_name.split("::")[-1]: known_name
        for known_name in of_vendor
        if last and known_name.split("::")[1] == meant
    }
    longer = [known_name for known_name in of_service if known_name.lower().endswith(last.lower())]
    found = longer[0] if len(longer) == 1 else closest(last, of_service)
    return of_service[found] if found else None


def _with_last_part(name: str, known: Sequence[str]) -> str | None:
    """Return the type of the same vendor with the same name within another service."""
    vendor, _, rest = name.partition("::")
    last = rest.split("::")[-1].lower()
    return next(
        (known_name for known_name in _of_vendor(vendor, known) if known_name.split("::")[-1].lower() == last), None
    )


def _of_vendor(vendor: str, known: Sequence[str]) -> list[str]:
    return [known_name for known_name in known if known_name.lower().startswith(f"{vendor.lower()}::")]


def _has_known_namespace(name: str, known: Sequence[str]) -> bool:
    """Return whether a known type has the same namespace, whatever the case of its letters."""
    return name.split("::")[0].lower() in {known_name.split("::")[0].lower() for known_name in known}


def suggested_type(name: str, known: Sequence[str]) -> str:
    """Return a hint for the type `name`, which does not exist: the type that is meant; an empty string for others."""
    intended = intended_type(name, known)
    return Suggestion(name, intended) if intended else ""


def used_type(name: str, known: Sequence[str]) -> str:
    """Return a hint for a type that a template uses: as `suggested_type`, or where types of one's own are declared."""
    hint = suggested_type(name, known)
    if hint or _has_known_namespace(name, known):
        return hint
    return "give the environment whose resource_registry maps it, or the plug-in that has it"
