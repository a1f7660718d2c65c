"""Hints for misspelt names of resource types."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.base.similar import Suggestion, closest

_ELSEWHERE = 0.9  # a name outside of the known namespaces is rather a type of the author's own than a misspelt one

_USUAL = {
    "AWS::EC2::Address": "AWS::EC2::EIP",
    "AWS::EC2::ElasticIP": "AWS::EC2::EIP",
    "AWS::EC2::Server": "AWS::EC2::Instance",
    "AWS::ElasticLoadBalancingV2::LoadBalancer": "AWS::ElasticLoadBalancing::LoadBalancer",
    "OS::Barbican::Container": "OS::Barbican::GenericContainer",
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
    "OS::Nova::Volume": "OS::Cinder::Volume",
    "OS::Nova::VolumeAttachment": "OS::Cinder::VolumeAttachment",
    "OS::Swift::Object": "OS::Swift::Container",
}
"""What people write, and the type that they mean."""


def meant_type(name: str, known: Sequence[str]) -> str | None:
    """Return the type that is meant by `name`, which does not exist: for a usual misnomer, difference of case, or
    misspelling; None for other names.
    """
    meant = _USUAL.get(name) or next((one for one in known if one.lower() == name.lower()), None)
    return meant if meant in known else closest(name, known, *(() if _is_usual(name, known) else (_ELSEWHERE,)))


def _is_usual(name: str, known: Sequence[str]) -> bool:
    """Return whether a known type has the same namespace, whatever the case of its letters."""
    return name.split("::")[0].lower() in {one.split("::")[0].lower() for one in known}


def suggested_type(name: str, known: Sequence[str]) -> str:
    """Return a hint for the type `name`, which does not exist: the type that is meant; an empty string for others."""
    meant = meant_type(name, known)
    return Suggestion(name, meant) if meant else ""


def used_type(name: str, known: Sequence[str]) -> str:
    """Return a hint for a type that a template uses: as `suggested_type`, or where types of one's own are declared."""
    hint = suggested_type(name, known)
    if hint or _is_usual(name, known):
        return hint
    return "give the environment whose resource_registry maps it, or the plug-in that has it"
