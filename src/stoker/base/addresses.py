"""Which addresses may be connected to on behalf of a user.

A user must not make the service talk to what only the service can reach: loopback, private and link-local addresses,
and with them the metadata services of clouds.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def is_allowed(text: str, networks: Sequence[Network]) -> bool:
    """Whether an address, as written in a socket's address, is public or in one of the operator's `networks`."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        address = _inside(address) or address
    listed = any(address.version == network.version and address in network for network in networks)
    return listed or (address.is_global and not address.is_multicast)


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for: mapped, 6to4, or translated (RFC 6052)."""
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
