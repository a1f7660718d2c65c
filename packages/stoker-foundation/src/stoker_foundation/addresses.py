"""Which addresses may be connected to on behalf of a user.

A user must not be able to make the service connect to hosts that only the service can reach: loopback, private and
link-local addresses, among them the metadata services of clouds (server-side request forgery).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def is_allowed(text: str, networks: Sequence[Network]) -> bool:
    """Return whether an address (the string in a socket address) is public or in one of the operator's `networks`."""
    address = plain_address(text)
    return is_listed(text, networks) or (address.is_global and not address.is_multicast)


def is_listed(text: str, networks: Sequence[Network]) -> bool:
    """Return whether an address (the string in a socket address) is in one of the operator's `networks`."""
    address = plain_address(text)
    return any(address.version == network.version and address in network for network in networks)


def plain_address(text: str) -> Address:
    """Return an address (the string in a socket address): the IPv4 address, where an IPv6 address embeds one."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return _inside(address) or address if isinstance(address, ipaddress.IPv6Address) else address


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address embedded in an IPv6 address: mapped, 6to4, or translated (RFC 6052)."""
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
