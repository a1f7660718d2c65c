"""Answers to DNS queries, from what the name servers have of zones and record sets (RFC 1034, 4.3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from openstack_emulator.dns.records import RecordSet, Served, Zone
from openstack_emulator.dns.rules.names import ancestors, folded
from openstack_emulator.dns.rules.recordsets import MINIMUM, RecordSets
from openstack_emulator.dns.rules.zones import Zones

SMALLEST_UDP, LARGEST_UDP, LARGEST_TCP = 512, 1232, 65535
"""Bytes of a message: over UDP without EDNS, over UDP with it (as the DNS Flag Day 2020 recommends), over TCP."""
LONGEST_CHAIN = 8
"""CNAME records that are followed for one query."""
SETS_PER_MESSAGE = 100
"""Record sets in one message of a zone transfer."""
_Set = tuple[RecordSet, Served]
"""A record set, and what the name servers have of it."""
_TRANSFERS = (dns.rdatatype.AXFR, dns.rdatatype.IXFR)


class Answers:
    """Answers queries for the zones that are served; has no caches, so that an answer is never out of date."""

    def __init__(self, zones: Zones, sets: RecordSets) -> None:
        self._zones, self._sets = zones, sets

    def respond(self, data: bytes, over_tcp: bool) -> list[bytes]:
        """Return the messages that answer one; none for what is not a query at all."""
        try:
            query = dns.message.from_wire(data)
        except (dns.exception.DNSException, ValueError):
            return _malformed(data)
        if query.flags & dns.flags.QR:
            return []
        response = dns.message.make_response(query, our_payload=LARGEST_UDP)
        if query.opcode() != dns.opcode.QUERY:
            response.set_rcode(dns.rcode.NOTIMP)
        elif len(query.question) != 1:
            response.set_rcode(dns.rcode.FORMERR)
        elif query.question[0].rdtype in _TRANSFERS:
            return self._transferred(query, response, over_tcp)
        else:
            self._answer(response, query.question[0])
        size = max(SMALLEST_UDP, min(query.payload, LARGEST_UDP)) if query.edns >= 0 else SMALLEST_UDP
        return [_rendered(response, LARGEST_TCP if over_tcp else size)]

    def _answer(self, response: dns.message.Message, question: dns.rrset.RRset) -> None:
        """Answer a question, and follow CNAME records within the zones that are served (RFC 1034, 4.3.2)."""
        name = question.name
        zone = self._zone(name)
        if question.rdclass != dns.rdataclass.IN or zone is None:
            response.set_rcode(dns.rcode.REFUSED)
            return
        response.flags |= dns.flags.AA
        for _ in range(LONGEST_CHAIN):
            target = self._look_up(response, zone, name, question.rdtype)
            zone = None if target is None else self._zone(target)
            if target is None or zone is None:
                return
            name = target

    def _look_up(
        self, response: dns.message.Message, zone: Zone, name: dns.name.Name, kind: int
    ) -> dns.name.Name | None:
        """Add what a zone has of a name to a response; return the name to search next, if any."""
        delegation = self._delegation(zone, name)
        if delegation is not None:
            self._refer(response, zone, delegation)
            return None
        found = self._at(zone, _text(name)) or self._synthesized(zone, _text(name))
        if found is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        answered = False
        for record, served in found or ():
            is_alias = record.type == "CNAME" and kind != dns.rdatatype.CNAME
            if is_alias or kind in (dns.rdatatype.ANY, dns.rdatatype.from_text(record.type)):
                response.answer.append(_rrset(zone, (record, served), name))
                answered = True
                if is_alias and kind != dns.rdatatype.ANY:
                    return dns.name.from_text(served.records[0])
        if not answered:
            self._add_authority(response, zone)
        return None

    # -- zones and names ----------------------------------------------------------------------------------------------

    def _zone(self, name: dns.name.Name) -> Zone | None:
        text = _text(name)
        for candidate in (text, *ancestors(text)):
            if (zone := self._zones.serving(candidate)) is not None:
                return zone
        return None

    def _at(self, zone: Zone, name: str) -> list[_Set] | None:
        """Return the record sets of a name, none for a name that only has others below it; None for no such name."""
        if found := list(self._sets.served(zone, folded_name=name)):
            return found
        below = any(record.folded_name.endswith(f".{name}") for record, _ in self._sets.served(zone))
        return [] if below else None

    def _synthesized(self, zone: Zone, name: str) -> list[_Set] | None:
        """Return the record sets of the wildcard that a name falls under (RFC 4592, 3.3.1)."""
        if self._at(zone, name) is not None:
            return []
        for above in ancestors(name):
            if self._at(zone, above) is not None or above == zone.folded_name:
                return self._at(zone, f"*.{above}")
        return None

    def _delegation(self, zone: Zone, name: dns.name.Name) -> _Set | None:
        """Return the NS record set below the zone's own name that is responsible for a name."""
        text, found = _text(name), None
        for candidate in (text, *ancestors(text)):
            if candidate == zone.folded_name:
                break
            found = next(self._sets.served(zone, folded_name=candidate, type="NS"), found)
        return found

    def _refer(self, response: dns.message.Message, zone: Zone, delegation: _Set) -> None:
        """Name the servers of a delegated zone, with their addresses if they are in this zone."""
        response.flags &= ~dns.flags.AA
        response.authority.append(_rrset(zone, delegation))
        for server in delegation[1].records:
            for record, served in self._sets.served(zone, folded_name=folded(server)):
                if record.type in ("A", "AAAA"):
                    response.additional.append(_rrset(zone, (record, served)))

    def _add_authority(self, response: dns.message.Message, zone: Zone) -> None:
        """Add the SOA record, which says for how long the absence of records may be cached (RFC 2308, 3)."""
        for record, served in self._at(zone, zone.folded_name) or ():
            if record.type == "SOA":
                soa = _rrset(zone, (record, served))
                soa.ttl = min(soa.ttl, MINIMUM)
                response.authority.append(soa)

    # -- zone transfers -----------------------------------------------------------------------------------------------

    def _transferred(self, query: dns.message.Message, response: dns.message.Message, over_tcp: bool) -> list[bytes]:
        """Return all records of a zone between two copies of its SOA record (RFC 5936); over TCP only."""
        question = query.question[0]
        zone = self._zones.serving(_text(question.name))
        if zone is None or not over_tcp:
            response.set_rcode(dns.rcode.REFUSED if over_tcp else dns.rcode.FORMERR)
            return [_rendered(response, LARGEST_TCP if over_tcp else SMALLEST_UDP)]
        sets = [_rrset(zone, row) for row in self._sets.served(zone)]
        soa = [rrset for rrset in sets if rrset.rdtype == dns.rdatatype.SOA]
        ordered = [*soa, *(rrset for rrset in sets if rrset.rdtype != dns.rdatatype.SOA), *soa]
        return [
            _part(query, ordered[start : start + SETS_PER_MESSAGE])
            for start in range(0, len(ordered), SETS_PER_MESSAGE)
        ]


def _part(query: dns.message.Message, sets: Sequence[dns.rrset.RRset]) -> bytes:
    """Return one message of a zone transfer."""
    message = dns.message.make_response(query)
    message.flags |= dns.flags.AA
    for rrset in sets:
        message.answer.append(rrset)
    return message.to_wire(max_size=LARGEST_TCP)


def _text(name: dns.name.Name) -> str:
    return folded(name.to_text())


def _rrset(zone: Zone, found: _Set, owner: dns.name.Name | None = None) -> dns.rrset.RRset:
    """Return what the name servers have of a record set, for the name `owner` where a wildcard stands for it."""
    record, served = found
    ttl = zone.ttl if served.ttl is None else served.ttl
    return dns.rrset.from_text_list(owner or record.name, ttl, "IN", record.type, served.records)


def _rendered(response: dns.message.Message, size: int) -> bytes:
    """Return a message; one that is too large is empty, and asks for TCP by its flag TC."""
    try:
        return response.to_wire(max_size=size)
    except dns.exception.TooBig:
        response.answer, response.authority, response.additional = [], [], []
        response.flags |= dns.flags.TC
        return response.to_wire(max_size=max(size, SMALLEST_UDP))


def _malformed(data: bytes) -> list[bytes]:
    """Return the answer to what is not a valid message: FORMERR with its ID; none to what may be an answer."""
    if len(data) < 12 or data[2] & 0x80:
        return []
    return [data[:2] + bytes((0x80 | (data[2] & 0x79), int(dns.rcode.FORMERR))) + bytes(8)]
