"""Answers to the DHCPv6 requests of guests (RFC 8415): ports get the addresses that the network service gave them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from ipaddress import ip_address
from uuid import UUID

from openstack_emulator.core.guests.topology import Lease6

SERVER_PORT = 547
SERVERS = "ff02::1:2"
SOLICIT, ADVERTISE, REQUEST, CONFIRM, RENEW, REBIND, REPLY, RELEASE, DECLINE, INFORMATION = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11,
)  # fmt: skip
CLIENT_ID, SERVER_ID, ASSOCIATION, ADDRESS, REQUESTED, STATUS, NAME_SERVERS = 1, 2, 3, 5, 6, 13, 23
"""Options; an association has the addresses of an interface (IA_NA). That of name servers is in RFC 3646."""
NO_ADDRESSES, NOT_ON_LINK = 2, 4
OPTION, ASSOCIATED, LIFETIMES = struct.Struct("!HH"), struct.Struct("!4sII"), struct.Struct("!II")
PREFERRED_SECONDS, VALID_SECONDS = 14400, 86400
CHOSEN = {REQUEST, RENEW, RELEASE, DECLINE}
"""Messages to the server that the client has chosen."""
IDENTIFIED_BY_UUID = 4


def server_identifier(network: str) -> bytes:
    """Return the DUID of the server of a network, whose ID is a UUID (RFC 6355)."""
    return struct.pack("!H", IDENTIFIED_BY_UUID) + UUID(network).bytes


def answer(data: bytes, server: bytes, lease: Lease6 | None) -> bytes | None:
    """Return the answer to a message of a client, None if there is none.

    server: the DUID of the server. lease: of the port from which the client sends.
    """
    if len(data) < 4 or lease is None:
        return None
    kind, options = data[0], list(_options(data[4:]))
    received = dict(options)
    if CLIENT_ID not in received and kind != INFORMATION:
        return None
    if received.get(SERVER_ID, server) != server or (kind in CHOSEN and SERVER_ID not in received):
        return None
    found = [(code, value) for code, value in options if code == CLIENT_ID]
    associations = [value for code, value in options if code == ASSOCIATION and len(value) >= ASSOCIATED.size]
    if kind in (SOLICIT, REQUEST, RENEW, REBIND):
        found += [
            (ASSOCIATION, _association(association[:4], lease, index == 0))
            for index, association in enumerate(associations)
        ]
    elif kind == CONFIRM:
        addresses = {address for association in associations for address in _addresses(association)}
        found.append((STATUS, _status(0 if addresses <= set(lease.addresses) else NOT_ON_LINK)))
    elif kind in (RELEASE, DECLINE):
        found.append((STATUS, _status(0)))
    elif kind != INFORMATION:
        return None
    if lease.name_servers and NAME_SERVERS in _requested(received.get(REQUESTED, b"")):
        found.append((NAME_SERVERS, b"".join(ip_address(server).packed for server in lease.name_servers)))
    head = bytes([ADVERTISE if kind == SOLICIT else REPLY]) + data[1:4]
    return head + _encoded((SERVER_ID, server), *found)


def _association(identifier: bytes, lease: Lease6, first: bool) -> bytes:
    """Return an association with the addresses of the lease: the first one of a client has all of them."""
    times = ASSOCIATED.pack(identifier, PREFERRED_SECONDS // 2, PREFERRED_SECONDS * 4 // 5)
    if not first or not lease.addresses:
        return times + _encoded((STATUS, _status(NO_ADDRESSES)))
    lifetimes = LIFETIMES.pack(PREFERRED_SECONDS, VALID_SECONDS)
    return times + _encoded(*((ADDRESS, ip_address(address).packed + lifetimes) for address in lease.addresses))


def _addresses(association: bytes) -> Iterator[str]:
    for code, value in _options(association[ASSOCIATED.size :]):
        if code == ADDRESS and len(value) >= 16:
            yield str(ip_address(value[:16]))


def _requested(value: bytes) -> set[int]:
    """Return the codes of the options that a client asks for."""
    return {int.from_bytes(value[offset : offset + 2]) for offset in range(0, len(value), 2)}


def _status(code: int) -> bytes:
    return struct.pack("!H", code)


def _encoded(*options: tuple[int, bytes]) -> bytes:
    return b"".join(OPTION.pack(code, len(value)) + value for code, value in options)


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + OPTION.size <= len(data):
        code, length = OPTION.unpack_from(data, offset)
        offset += OPTION.size
        yield code, data[offset : offset + length]
        offset += length
