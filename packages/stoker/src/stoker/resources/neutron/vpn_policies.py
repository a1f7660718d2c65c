"""OS::Neutron::IKEPolicy and OS::Neutron::IPsecPolicy: how the ends of a virtual private network agree and encrypt."""

from __future__ import annotations

from stoker.resources.base import Collection
from stoker.resources.declare import Constraints, one_of
from stoker.resources.neutron.base import NeutronResource
from stoker.resources.neutron.vpn_service import DESCRIPTION, EXTENSION, NAME, string_attributes
from stoker.schema.property import Attribute, Change, Property, Type

_AUTHENTICATION = one_of("sha1", "sha256", "sha384", "sha512", "aes-xcbc", "aes-cmac")
_LENGTHS = (128, 192, 256)
_ENCRYPTION = one_of(
    "3des",
    *(f"aes-{length}" for length in _LENGTHS),
    *(f"aes-{length}-{mode}-{tag}" for mode in ("ccm", "gcm") for tag in (8, 12, 16) for length in _LENGTHS),
    *(f"aes-{length}-ctr" for length in _LENGTHS),
)
_GROUPS = one_of("group2", "group5", *(f"group{number}" for number in range(14, 32)))


def _choice(description: str, default: str, constraints: Constraints, change: Change) -> Property:
    return Property(description=description, default=default, constraints=constraints, change=change)


def _algorithms(change: Change) -> dict[str, Property]:
    """Declare the properties that both policies have."""
    return {
        "auth_algorithm": _choice("Algorithm of the authentication.", "sha1", _AUTHENTICATION, change),
        "encryption_algorithm": _choice("Algorithm of the encryption.", "aes-128", _ENCRYPTION, change),
        "pfs": _choice("Group of perfect forward secrecy.", "group5", _GROUPS, change),
        "lifetime": Property(
            Type.MAP,
            "Lifetime of the security association.",
            schema={
                "units": Property(
                    description="Unit of the lifetime.",
                    default="seconds",
                    constraints=one_of("seconds", "kilobytes"),
                ),
                "value": Property(Type.INTEGER, "The lifetime in its unit.", default=3600),
            },
            change=change,
        ),
    }


_SHOWN = {
    **string_attributes(
        auth_algorithm="Algorithm of the authentication.",
        description="Description of the policy.",
        encryption_algorithm="Algorithm of the encryption.",
        name="Name of the policy.",
        pfs="Group of perfect forward secrecy.",
        tenant_id="The project that owns the policy.",
    ),
    "lifetime": Attribute("Lifetime of the security association.", Type.MAP),
}


class IKEPolicy(NeutronResource):
    """How keys are exchanged."""

    type_name = "OS::Neutron::IKEPolicy"
    description = "How the ends of a virtual private network exchange keys."
    collection = Collection("neutron", "/v2.0/vpn/ikepolicies", "ikepolicy", "ikepolicies")
    extension = EXTENSION

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        **_algorithms(Change.UPDATE),
        "phase1_negotiation_mode": _choice(
            "Negotiation mode of the first phase.", "main", one_of("main"), Change.REPLACE
        ),
        "ike_version": _choice("Version of IKE.", "v1", one_of("v1", "v2"), Change.UPDATE),
    }
    attributes = {
        **_SHOWN,
        **string_attributes(
            ike_version="Version of IKE.", phase1_negotiation_mode="Negotiation mode of the first phase."
        ),
    }


class IPsecPolicy(NeutronResource):
    """How traffic is encrypted."""

    type_name = "OS::Neutron::IPsecPolicy"
    description = "How the traffic of a virtual private network is encrypted."
    collection = Collection("neutron", "/v2.0/vpn/ipsecpolicies", "ipsecpolicy", "ipsecpolicies")
    extension = EXTENSION

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        **_algorithms(Change.REPLACE),
        "transform_protocol": _choice(
            "Protocol of the transformation.", "esp", one_of("esp", "ah", "ah-esp"), Change.REPLACE
        ),
        "encapsulation_mode": _choice("What is encapsulated.", "tunnel", one_of("tunnel", "transport"), Change.REPLACE),
    }
    attributes = {
        **_SHOWN,
        **string_attributes(
            encapsulation_mode="What is encapsulated.", transform_protocol="Protocol of the transformation."
        ),
    }
