"""The packet filters of networks and routers, in the language of nftables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, IPv6Network, collapse_addresses, ip_address, ip_interface, ip_network

from openstack_emulator.core.guests.topology import METADATA_ADDRESS, Port, Router, Rule

PROBE = "0.0.0.0/32"
"""Where a guest that has no address yet sends from (RFC 2131; RFC 5227, 2.1.1)."""
FLUSH = "flush ruleset\n"
ICMP = {4: 1, 6: 58}
PROTOCOLS = {4: "ip", 6: "ip6"}
ARRIVING = "type filter hook prerouting priority -300; policy accept;"
LEAVING = "type filter hook forward priority -200; policy accept;"
TAGGED = "ether type { 8021q, 8021ad } drop"
"""The tags of VLANs: filters of connections pass over such frames, yet receivers take those of VLAN 0 like others."""
UNICAST = (
    TAGGED,
    "ether daddr & 01:00:00:00:00:00 == 00:00:00:00:00:00 accept",
    "ether type arp accept",
    "meta l4proto ipv6-icmp accept",
    "drop",
)
"""What a secured port gets of what other guests send; the rules of groups apply to single receivers only."""
CARD = "nic"
"""What begins the names of the interfaces to virtual machines, in the namespaces of these."""
CARD_BRIDGE_MAC = "fe:a9:fe:a9:fe:01"
"""The MAC address of the bridges in these namespaces; no frame leaves them with it."""
NEIGHBOR = "@th,64,128"
"""The address that a neighbor advertisement is about (RFC 4861, 4.4), which older releases of nftables do not name."""
NEIGHBORS = "icmpv6 type { nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert } accept"


def network_filter(
    ports: Mapping[str, Port],
    rules: Mapping[str, tuple[Rule, ...]],
    members: Mapping[str, tuple[str, ...]],
    clients: Mapping[str, tuple[str, ...]],
    family: str,
) -> str:
    """Return the filter of a network.

    ports: the secured ports of guests, by the names of their interfaces. rules, members: see `Topology`.
    clients: the addresses from which guests may send requests to the metadata service, by the names of all interfaces
    of guests: it identifies them by their address. family: that in which connections between interfaces of a bridge are
    tracked.

    What does not belong to a connection that a rule permits is dropped, and both ends of a connection are asked at each
    packet of the end that began it: a rule that is taken away ends its connections.
    """
    groups = sorted({group for port in ports.values() for group in port.groups})
    used = {rule.remote[1:] for group in groups for rule in rules.get(group, ()) if rule.remote.startswith("@")}
    owners = {mac: name for name, port in ports.items() for mac, _ in port.pairs}
    owners |= {port.mac: name for name, port in ports.items()}  # whoever else may send from it
    chains = [
        *(_members(group, version, members.get(group, ())) for group in sorted(used) for version in (4, 6)),
        *(_group(group, rules.get(group, ()), ingress) for group in groups for ingress in (True, False)),
        *(_port(name, port, ingress) for name, port in ports.items() for ingress in (True, False)),
        _base("sending", 0, "saddr", {mac: f"sends_{name}" for mac, name in owners.items()}),
        _base("receiving", 10, "daddr", {mac: f"receives_{name}" for mac, name in owners.items()}),
    ]
    guards = [
        *(_sender(name, port) for name, port in ports.items()),
        _chain("receiver", UNICAST),
        _chain(
            "arriving",
            (ARRIVING, _metadata_clients(clients), _jumps("iifname", {f'"{name}"': f"from_{name}" for name in ports})),
        ),
        _chain("leaving", (LEAVING, _jumps("oifname", {f'"{name}"': "receiver" for name in ports}))),
    ]
    return FLUSH + _table(family, "groups", chains) + _table("bridge", "guard", guards)


def router_filter(router: Router, gateway: str) -> str:
    """Return the address translation of a router. gateway: the name of the interface to the external network."""
    inside = sorted({str(ip_interface(a).network) for link in router.links for a in link.addresses if ":" not in a})
    arriving = [f"ip daddr {outer} dnat to {inner}" for outer, inner in router.floating]
    arriving += [
        f"ip daddr {rule.address} {rule.protocol} dport {rule.port} dnat to {rule.to_address}:{rule.to_port}"
        for rule in router.forwardings
    ]
    requests = [f'iifname "{gateway}" ip daddr {METADATA_ADDRESS} drop']
    leaving = []
    if inside and router.gateway is not None and router.source is not None:
        leaving.append(f'ip saddr {_set(inside)} oifname != "{gateway}" ct status dnat snat to {router.source}')
    leaving += [f'oifname "{gateway}" ip saddr {inner} snat to {outer}' for outer, inner in router.floating]
    passing = []
    if router.source is not None:
        leaving.append(f'oifname "{gateway}" snat to {router.source}')
        passing = ["ct status dnat accept", f'iifname "{gateway}" ct state new drop']
    nat = [
        _chain("arriving", ("type nat hook prerouting priority -100; policy accept;", *arriving)),
        _chain("leaving", ("type nat hook postrouting priority 100; policy accept;", *leaving)),
        _chain("passing", ("type filter hook forward priority 0; policy accept;", *passing)),
    ]
    metadata = _chain("requests", ("type filter hook input priority 0; policy accept;", *requests))
    return FLUSH + _table("ip", "translation", [*nat, metadata])


def endpoints_filter(endpoints: Mapping[tuple[str, int], int]) -> str:
    """Return the address translation of a guest: connections to addresses and ports go to other ports there."""
    lines = [f"ip daddr {address} tcp dport {port} dnat to {address}:{to}" for (address, port), to in endpoints.items()]
    chain = _chain("endpoints", ("type nat hook output priority -100; policy accept;", *lines))
    return _table("ip", "stoker", [chain])


def virtual_endpoints_filter(endpoints: Mapping[tuple[str, int], int]) -> str:
    """Return how the namespace of a virtual machine answers at addresses in place of the networks beyond it.

    endpoints: addresses and ports, and the ports at which these are really served. The rest of the machine's packets,
    and those for it, pass through.
    """
    addresses = _set(dict.fromkeys(address for address, _ in endpoints))
    lines = [f"ip daddr {address} tcp dport {port} dnat to {address}:{to}" for (address, port), to in endpoints.items()]
    translation = _chain("endpoints", ("type nat hook prerouting priority -100; policy accept;", *lines))
    arriving = (
        "type filter hook prerouting priority -300; policy accept;",
        f'iifname != "{CARD}*" arp daddr ip {addresses} drop',
        f'iifname "{CARD}*" ip daddr {addresses} meta pkttype set host ether daddr set {CARD_BRIDGE_MAC}',
    )
    passing = ("type filter hook forward priority 0; policy accept;", f"arp daddr ip {addresses} drop")
    bridges = [_chain("arriving", arriving), _chain("passing", passing)]
    return _table("ip", "stoker", [translation]) + _table("bridge", "stoker", bridges)


def machine_filter(addresses: Iterable[tuple[str, int]], outside: str) -> str:
    """Return the address translation inside a virtual machine: connections to loopback addresses and ports go to the
    same ports of an address outside."""
    arriving = [f"ip daddr {address} tcp dport {port} dnat to {outside}" for address, port in addresses]
    chains = [
        _chain("leaving", ("type nat hook output priority -100; policy accept;", *arriving)),
        _chain("left", ("type nat hook postrouting priority 100; policy accept;", f"ip daddr {outside} masquerade")),
    ]
    return _table("ip", "stoker", chains)


def admits(rules: Iterable[Rule], source: str) -> list[tuple[int, int]]:
    """Return the ranges of TCP ports that an IPv4 address outside may reach."""
    found = []
    for rule in rules:
        if not rule.ingress or rule.version != 4 or rule.protocol not in (None, 6) or rule.remote.startswith("@"):
            continue
        if rule.remote and ip_address(source) not in ip_network(rule.remote, strict=False):
            continue
        found.append((rule.low or 1, rule.high or rule.low or 65535))
    return found


def _table(family: str, name: str, chains: Iterable[str]) -> str:
    return f"table {family} {name} {{\n{''.join(chains)}}}\n"


def _chain(name: str, lines: Iterable[str]) -> str:
    inner = "".join(f"  {line}\n" for line in lines if line)
    return f" chain {name} {{\n{inner} }}\n"


def _jumps(what: str, to: Mapping[str, str]) -> str:
    if not to:
        return ""
    pairs = ", ".join(f"{key} : jump {chain}" for key, chain in to.items())
    return f"{what} vmap {{ {pairs} }}"


def _base(name: str, priority: int, side: str, to: Mapping[str, str]) -> str:
    lines = (
        f"type filter hook forward priority {priority}; policy accept;",
        "ct state related accept",
        "ct state established ct direction reply accept",
        NEIGHBORS,
        _jumps(f"ether {side}", to),
    )
    return _chain(name, lines)


def _metadata_clients(clients: Mapping[str, tuple[str, ...]]) -> str:
    """Drop what is sent to the metadata service from other addresses than those of the interface, whatever else the
    port may send."""
    pairs = [f'"{name}" . {address}' for name, addresses in clients.items() for address in addresses]
    others = f"iifname . ip saddr != {_set(pairs)} " if pairs else ""
    return f"ip daddr {METADATA_ADDRESS} {others}drop"


def _macs(port: Port) -> list[str]:
    return sorted({port.mac, *(mac for mac, _ in port.pairs)})


def _port(name: str, port: Port, ingress: bool) -> str:
    verb, side = ("receives", "to") if ingress else ("sends", "of")
    return _chain(f"{verb}_{name}", (*(f"jump {_name(side, group)}" for group in port.groups), "drop"))


def _group(group: str, rules: Iterable[Rule], ingress: bool) -> str:
    return _chain(_name("to" if ingress else "of", group), (_permit(rule) for rule in rules if rule.ingress == ingress))


def _permit(rule: Rule) -> str:
    family = PROTOCOLS[rule.version]
    words = [f"meta protocol {family}"]
    if rule.remote:
        remote = f"@{_name(f'm{rule.version}', rule.remote[1:])}" if rule.remote.startswith("@") else rule.remote
        words.append(f"{family} {'saddr' if rule.ingress else 'daddr'} {remote}")
    if rule.protocol is not None:
        words.append(f"meta l4proto {rule.protocol}")
    if rule.low is not None and rule.protocol in ICMP.values():
        kind = "icmp" if rule.protocol == ICMP[4] else "icmpv6"
        words.append(f"{kind} type {rule.low}")
        if rule.high is not None:
            words.append(f"{kind} code {rule.high}")
    elif rule.low is not None:
        words.append(f"th dport {rule.low}-{rule.high}")
    return " ".join((*words, "accept"))


def _members(group: str, version: int, addresses: Iterable[str]) -> str:
    own = _collapsed(addresses, version)
    elements = f"\n  elements = {_set(own)};" if own else ""
    return f" set {_name(f'm{version}', group)} {{\n  type ipv{version}_addr; flags interval;{elements}\n }}\n"


def _sender(name: str, port: Port) -> str:
    """Drop what a guest sends from other addresses than its own."""
    sources: dict[str, list[str]] = {mac: [] for mac in _macs(port)}
    sources[port.mac] += [*(address.split("/")[0] for address in port.addresses), link_local(port.mac)]
    for mac, prefix in port.pairs:
        sources[mac].append(prefix)
    six = _collapsed((address for addresses in sources.values() for address in addresses), 6)
    lines = [
        TAGGED,
        f"ether saddr != {_set(sources)} drop",
        "udp sport 67 udp dport 68 drop",
        "udp sport 547 udp dport 546 drop",
        "icmpv6 type nd-router-advert drop",
        f"icmpv6 type nd-neighbor-advert {NEIGHBOR} != {_set(_numbers(six))} drop",
        f"ether saddr {port.mac} ip saddr {PROBE} udp sport 68 udp dport 67 accept",
        "ip6 saddr :: icmpv6 type { nd-neighbor-solicit, mld2-listener-report, nd-router-solicit } accept",
    ]
    for mac, addresses in sources.items():
        if four := _collapsed(addresses, 4):
            sent = _set(_collapsed([*four, PROBE], 4))
            lines.append(f"ether saddr {mac} arp saddr ether {mac} arp saddr ip {sent} accept")
            lines.append(f"ether saddr {mac} ip saddr {_set(four)} accept")
        if own := _collapsed(addresses, 6):
            lines.append(f"ether saddr {mac} ip6 saddr {_set(own)} accept")
    return _chain(f"from_{name}", (*lines, "drop"))


def link_local(mac: str) -> str:
    """Return the IPv6 address that an interface makes itself (RFC 4291, appendix A)."""
    octets = bytes.fromhex(mac.replace(":", ""))
    identifier = bytes([octets[0] ^ 2]) + octets[1:3] + b"\xff\xfe" + octets[3:]
    return str(IPv6Address(b"\xfe\x80" + bytes(6) + identifier))


def _collapsed(addresses: Iterable[str], version: int) -> list[str]:
    """Return the prefixes of an IP version without overlaps, which nftables refuses in sets."""
    networks = [network for address in addresses if (network := ip_network(address, strict=False)).version == version]
    return [str(network) for network in collapse_addresses(networks)]  # type: ignore[type-var]


def _numbers(prefixes: Iterable[str]) -> list[str]:
    """Return prefixes of IPv6 as ranges of numbers, for a field that nftables knows by its place only."""
    networks = [IPv6Network(prefix) for prefix in prefixes]
    return [
        f"{int(network[0]):#x}-{int(network[-1]):#x}" if network.num_addresses > 1 else f"{int(network[0]):#x}"
        for network in networks
    ]


def _set(elements: Iterable[str]) -> str:
    return "{ " + ", ".join(elements) + " }"


def _name(kind: str, key: str) -> str:
    return f"{kind}_{key.replace('-', '_')}"
