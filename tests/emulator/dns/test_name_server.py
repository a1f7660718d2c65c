"""Zones over DNS, with a real resolver: what is ACTIVE is answered, over UDP and TCP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import dns.flags
import dns.message
import dns.opcode
import dns.query
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.resolver
import dns.zone
import pytest

from openstack_emulator.name_server import NameServer
from openstack_emulator.testing import ServedCloud
from tests.emulator.dns.harness import ALL_PROJECTS, EXAMPLE, Designate

HOST = "127.0.0.1"
SECONDS = 10.0


class Resolver:
    """Asks the name server of the emulated cloud."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._resolver = dns.resolver.Resolver(configure=False)
        self._resolver.nameservers, self._resolver.port = [HOST], port

    def texts(self, name: str, kind: str, tcp: bool = False) -> list[str]:
        """Return the records of a name. Raises the exceptions of dns.resolver."""
        return sorted(data.to_text() for data in self._resolver.resolve(name, kind, tcp=tcp, lifetime=SECONDS))

    def ask(self, name: str, kind: str, tcp: bool = False, **options: Any) -> dns.message.Message:
        """Return the whole answer to a query."""
        query = dns.message.make_query(name, kind, **options)
        send = dns.query.tcp if tcp else dns.query.udp
        return send(query, HOST, SECONDS, self.port)


@pytest.fixture
def resolver(served: ServedCloud) -> Resolver:
    return Resolver(served.serve_dns())


@pytest.fixture
def datagrams() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(SECONDS)
        yield sender


def test_records_are_answered_once_they_are_active(
    designate: Designate, served: ServedCloud, resolver: Resolver
) -> None:
    assert resolver.ask(f"www.{EXAMPLE}", "A").rcode() == dns.rcode.REFUSED
    zone = designate.zone(ttl=1800)
    body = {"name": f"www.{EXAMPLE}", "type": "A", "records": ["192.0.2.1"], "ttl": 60}
    made = designate.make(f"/zones/{zone}/recordsets", body, wait=False)
    with pytest.raises(dns.resolver.NXDOMAIN):
        resolver.texts(f"www.{EXAMPLE}", "A")
    serial = int(resolver.texts(EXAMPLE, "SOA")[0].split()[2])
    served.advance(2)
    for tcp in (False, True):
        answer = resolver.ask(f"WWW.{EXAMPLE}", "A", tcp)
        assert answer.flags & dns.flags.AA and not answer.flags & dns.flags.RA
        assert answer.answer[0].to_text() == f"WWW.{EXAMPLE} 60 IN A 192.0.2.1"
    assert int(resolver.texts(EXAMPLE, "SOA")[0].split()[2]) > serial
    assert resolver.texts(EXAMPLE, "NS") == ["ns1.devstack.org."]

    place = f"/zones/{zone}/recordsets/{made['id']}"
    designate.call("PUT", place, {"records": ["192.0.2.2", "192.0.2.3"]})
    assert resolver.texts(f"www.{EXAMPLE}", "A") == ["192.0.2.1"]
    served.advance(2)
    assert resolver.texts(f"www.{EXAMPLE}", "A") == ["192.0.2.2", "192.0.2.3"]
    designate.call("DELETE", place)
    served.advance(2)
    with pytest.raises(dns.resolver.NXDOMAIN):
        resolver.texts(f"www.{EXAMPLE}", "A")
    designate.call("DELETE", f"/zones/{zone}")
    served.advance(2)
    assert resolver.ask(EXAMPLE, "SOA").rcode() == dns.rcode.REFUSED


def test_an_abandoned_zone_is_served_until_another_one_has_its_name(
    designate: Designate, admin: Designate, resolver: Resolver
) -> None:
    zone = designate.zone()
    record = designate.record_set(zone, f"www.{EXAMPLE}", "A", "192.0.2.1")
    assert admin.call("POST", f"/zones/{zone}/tasks/abandon", headers=ALL_PROJECTS).status == 204
    assert designate.refused("GET", f"/recordsets/{record}")[:2] == (404, "recordset_not_found")
    assert resolver.texts(f"www.{EXAMPLE}", "A") == ["192.0.2.1"]
    assert len(resolver.texts(EXAMPLE, "SOA")) == 1
    designate.zone()
    assert resolver.ask(f"www.{EXAMPLE}", "A").rcode() == dns.rcode.NXDOMAIN
    assert len(resolver.texts(EXAMPLE, "SOA")) == 1


def test_name_resolution_rules(designate: Designate, resolver: Resolver) -> None:
    zone, other = designate.zone(), designate.zone("other.test.")
    for owner, name, kind, record in (
        (zone, "www", "CNAME", "web.other.test."),
        (other, "web", "A", "192.0.2.7"),
        (zone, "outside", "CNAME", "www.example.org."),
        (zone, "loop", "CNAME", f"loop.{EXAMPLE}"),
        (zone, "*.wild", "TXT", '"any name"'),
        (zone, "a.b.deep", "AAAA", "2001:db8::1"),
        (zone, "sub", "NS", f"ns.sub.{EXAMPLE}"),
        (zone, "ns.sub", "A", "192.0.2.53"),
    ):
        designate.record_set(owner, f"{name}.{EXAMPLE if owner == zone else 'other.test.'}", kind, record)
    assert resolver.texts(f"www.{EXAMPLE}", "A") == ["192.0.2.7"]
    assert resolver.texts(f"x.y.wild.{EXAMPLE}", "TXT") == ['"any name"']
    outside = resolver.ask(f"outside.{EXAMPLE}", "A")
    assert [one.rdtype for one in outside.answer] == [dns.rdatatype.CNAME]
    assert len(resolver.ask(f"loop.{EXAMPLE}", "A").answer) >= 1

    for name, kind, code in (
        (f"b.deep.{EXAMPLE}", "A", dns.rcode.NOERROR),
        (f"x.wild.{EXAMPLE}", "A", dns.rcode.NOERROR),
        (f"none.{EXAMPLE}", "A", dns.rcode.NXDOMAIN),
        (f"x.a.b.deep.{EXAMPLE}", "A", dns.rcode.NXDOMAIN),
    ):
        absent = resolver.ask(name, kind)
        assert (absent.rcode(), absent.answer) == (code, []), name
        assert [one.rdtype for one in absent.authority] == [dns.rdatatype.SOA], name

    referral = resolver.ask(f"host.sub.{EXAMPLE}", "A")
    assert not referral.flags & dns.flags.AA and referral.answer == []
    assert referral.authority[0].to_text() == f"sub.{EXAMPLE} 3600 IN NS ns.sub.{EXAMPLE}"
    assert referral.additional[0].to_text() == f"ns.sub.{EXAMPLE} 3600 IN A 192.0.2.53"


def test_large_answers_are_truncated_over_udp_and_zones_are_transferred_over_tcp(
    designate: Designate, resolver: Resolver
) -> None:
    zone = designate.zone()
    designate.record_set(zone, f"big.{EXAMPLE}", "TXT", *(f'"{number:02}{"x" * 200}"' for number in range(10)))
    edns: dict[str, Any] = {"use_edns": 0, "payload": 4096}
    for options in ({}, edns):
        short = resolver.ask(f"big.{EXAMPLE}", "TXT", **options)
        assert short.flags & dns.flags.TC and short.answer == []
    assert len(resolver.texts(f"big.{EXAMPLE}", "TXT")) == 10
    assert resolver.ask(EXAMPLE, "AXFR").rcode() == dns.rcode.FORMERR
    copy = dns.zone.from_xfr(dns.query.xfr(HOST, EXAMPLE, port=resolver.port, timeout=SECONDS))
    assert {name.to_text() for name in copy} == {"@", "big"}
    with pytest.raises(dns.query.TransferError):
        list(dns.query.xfr(HOST, "other.test.", port=resolver.port, timeout=SECONDS))


def test_messages_that_are_not_queries(served: ServedCloud, resolver: Resolver, datagrams: socket.socket) -> None:
    def sent(message: bytes) -> dns.message.Message:
        datagrams.sendto(message, (HOST, resolver.port))
        return dns.message.from_wire(datagrams.recv(65535))

    assert sent(b"\x12\x34" + bytes(10) + b"rest").rcode() == dns.rcode.FORMERR
    assert sent(b"\x12\x34" + bytes(10)).rcode() == dns.rcode.FORMERR
    update = dns.message.make_query(EXAMPLE, "SOA")
    update.set_opcode(dns.opcode.NOTIFY)
    assert sent(update.to_wire()).rcode() == dns.rcode.NOTIMP
    assert resolver.ask(EXAMPLE, "A", rdclass=dns.rdataclass.CH).rcode() == dns.rcode.REFUSED
    answers = served.do(lambda: NameServer(served.cloud).respond(dns.message.Message(1).to_wire()[:2] + b"\x80", False))
    assert answers == []
    response = dns.message.make_response(dns.message.make_query(EXAMPLE, "A"))
    assert served.do(lambda: NameServer(served.cloud).respond(response.to_wire(), False)) == []


def test_two_servers_on_one_port_are_an_error(served: ServedCloud, resolver: Resolver) -> None:
    with pytest.raises(OSError, match="in use"):
        asyncio.run(NameServer(served.cloud).start(HOST, resolver.port))
