"""What requests want of addresses, gateways and sub ports, where it is not what is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RequestedAddress:
    """An address of a port: this one, or any of a subnet."""

    subnet_id: str | None = None
    ip_address: str | None = None


@dataclass(frozen=True)
class RequestedAddressPair:
    """A further address of a port; without a MAC address, with that of the port."""

    ip_address: str | None = None
    mac_address: str | None = None


@dataclass(frozen=True)
class RequestedOption:
    """An option of DHCP; without a value, it is removed."""

    opt_name: str
    opt_value: str | None
    ip_version: int = 4


@dataclass(frozen=True)
class RequestedGateway:
    """The gateway of a router. names: those of the fields in the request, in its order."""

    network_id: str
    names: tuple[str, ...]
    enable_snat: bool | None = None
    external_fixed_ips: list[RequestedAddress] | None = None


@dataclass(frozen=True)
class RequestedSubPort:
    """A port that a trunk is to carry."""

    port_id: str
    segmentation_type: str | None = None
    segmentation_id: int | None = None
