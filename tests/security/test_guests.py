"""Hostile guests in the emulated cloud."""

from __future__ import annotations

import base64
import os
import socket
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from openstack_emulator.guests import building
from openstack_emulator.guests.console import LARGEST
from openstack_emulator.guests.ids import id_maps
from openstack_emulator.guests.launch.filters import NUMBERS
from openstack_emulator.guests.limits import MOST_TASKS, allowed_places, missing_limits
from tests.emulator.compute.guest_cloud import (
    ASK_METADATA,
    SERVE,
    TRY,
    Octavia,
    RealNova,
    asked,
    boot,
    delete_servers,
    ended,
    group,
    guest_cloud,
    neutron,
    permit,
    program,
    subnetwork,
    tried,
    web,
)

pytestmark = pytest.mark.guests

ASK = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    request = urllib.request.Request(url, headers={"X-Instance-ID": "other", "X-Tenant-ID": "other"})
    try:
        print(url, urllib.request.urlopen(request).status)
    except urllib.error.HTTPError as error:
        print(url, error.code)
    except urllib.error.URLError as error:
        print(url, type(error.reason).__name__)
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[RealNova]:
    with guest_cloud() as nova:
        yield nova


@pytest.fixture
def cloud(shared: RealNova) -> Iterator[RealNova]:
    """The cloud of the module without servers; those that the test leaves count against no other test's quota."""
    yield shared
    delete_servers(shared)


def test_services_of_this_machine(cloud: RealNova) -> None:
    """A guest sends requests to the cloud's control API, and to a service of this machine that listens on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as private:
        urls = (
            "http://169.254.169.254/openstack/latest/meta_data.json",
            "http://169.254.169.254/../control/journal",
            f"{cloud.served.url}/identity/v3",
            f"{cloud.served.url}/control/journal",
            f"http://127.0.0.1:{private.getsockname()[1]}/",
        )
        key = cloud.script(f"/usr/bin/python3 -I -c '{ASK}' {' '.join(urls)}")
    found = dict(line.split() for line in cloud.console(key).splitlines() if line.startswith("http"))
    assert list(found.values()) == ["200", "404", "200", "403", "ConnectionRefusedError"], cloud.console(key)


def test_the_kernel_and_its_files(cloud: RealNova, tmp_path: Path) -> None:
    """A guest's root user changes settings of the kernel, makes a device file, and looks for files and processes."""
    secret = tmp_path / "secret"
    secret.write_text("")
    key = cloud.script(
        "(echo x >/proc/sys/kernel/core_pattern) 2>/dev/null && echo BROKEN setting",
        "(echo 1 >/proc/sys/vm/drop_caches) 2>/dev/null && echo BROKEN caches",
        "mknod /tmp/disk b 8 0 2>/dev/null && echo BROKEN device",
        f"for up in . .. ../../../../../..; do [ -e $up{secret} ] && echo BROKEN file; done",
        "[ $(ls -d /proc/[0-9]* | wc -l) -lt 20 ] || echo BROKEN processes",
        "(exec 3</proc/1/root/root/.ssh) 2>/dev/null && echo BROKEN home",
        "echo files: $(readlink /proc/1/fd/*)",
    )
    shown = cloud.console(key)
    assert "BROKEN" not in shown, shown
    open_files = next(line for line in shown.splitlines() if line.startswith("files:")).split()[1:]
    others = [Path(name).name for name in open_files if not name.startswith(("/dev/null", "pipe:", "/run/"))]
    assert others == ["lock"], "no other file of this machine is open in a guest"


CALL = """
import ctypes, errno, os, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    done = libc.syscall(NUMBERS[name][os.uname().machine != "x86_64"], *arguments)
    print("CALL", name, "done" if done >= 0 else errno.errorcode[ctypes.get_errno()], flush=True)
call("unshare", 0x10000000)
call("clone3", ctypes.create_string_buffer(88), 88)
call("setns", os.open("/proc/self/ns/net", 0), 0)
call("mount", b"none", b"/mnt", b"tmpfs", 0, None)
call("mount", b"none", b"/mnt", b"tmpfs", 0xC0ED0000, None)
call("fsopen", b"tmpfs", 0)
call("io_uring_setup", 1, ctypes.create_string_buffer(120))
call("bpf", 5, ctypes.create_string_buffer(128), 128)
call("perf_event_open", ctypes.create_string_buffer(128), 0, -1, -1, 0)
call("keyctl", 0, -3, 1)
call("add_key", b"user", b"x", b"y", 1, -3)
call("userfaultfd", 0)
call("syslog", 10, 0, 0)
for family in (38, 40):
    try:
        socket.socket(family, socket.SOCK_STREAM)
        print("CALL", family, "done")
    except OSError as error:
        print("CALL", family, errno.errorcode[error.errno])
"""


def test_calls_of_the_kernel(cloud: RealNova) -> None:
    """A guest's root user makes namespaces and file systems, loads programs into the kernel, and looks for this machine
    by AF_VSOCK; its bind mounts and threads work."""
    key = boot(
        cloud,
        program(f"NUMBERS = {NUMBERS!r}\n{CALL}"),
        "mkdir -p /a /b; echo bound >/a/file; mount --bind /a /b && cat /b/file; umount /b",
        program("import threading; t = threading.Thread(target=print, args=['threaded']); t.start(); t.join()"),
        "unshare -U true 2>/dev/null && echo BROKEN",
        "su nobody -s /bin/sh -c 'unshare -U true' 2>/dev/null && echo BROKEN",
    )
    shown = ended(cloud, key)
    calls = [tuple(line.split()[1:]) for line in shown.splitlines() if line.startswith("CALL")]
    expected = {"clone3": "ENOSYS", "fsopen": "ENOSYS", "io_uring_setup": "ENOSYS"}
    assert len(calls) == 15, shown
    assert {found for _, found in calls if found not in ("EPERM", "ENOSYS")} == {"EAFNOSUPPORT"}, shown
    assert {name: found for name, found in calls if found == "ENOSYS"} == expected
    assert "bound\n" in shown and "threaded\n" in shown
    assert "BROKEN" not in shown


def test_a_flood_on_the_console(cloud: RealNova) -> None:
    """A guest writes to its console without end, to fill the disk."""
    key = cloud.script(f"head -c {3 * LARGEST} /dev/zero | tr '\\0' 'x'", "echo")
    assert len(cloud.console(key)) <= LARGEST


BOMB = """
import os, signal
made = stopped = 0
while made < 3000:
    try:
        if os.fork() == 0:
            signal.pause()
        made += 1
    except BlockingIOError:
        stopped += 1
        if stopped == 1:
            print("STOPPED AT", made, flush=True)
print("NOT STOPPED", flush=True)
"""
"""Forks without end where it is stopped; elsewhere not so often that the machine suffers."""


def test_a_fork_bomb(cloud: RealNova) -> None:
    """A guest starts processes without end."""
    if missing := missing_limits(allowed_places()):
        pytest.skip(missing)
    key = boot(cloud, program(BOMB), flavorRef="3")
    cloud.until(lambda: "STOPPED" in cloud.console(key))
    number = int(cloud.console(key).partition("STOPPED AT ")[2].split()[0])
    assert MOST_TASKS - 100 < number < MOST_TASKS
    other = boot(cloud, "true")
    assert "END OF SCRIPT" in ended(cloud, other), "another guest runs"
    for one in (key, other):
        cloud.call("DELETE", f"/servers/{one}")
    cloud.until(lambda: cloud.status(key) == "gone")
    cloud.until(lambda: not [one for place in allowed_places() for one in place.directory.glob(f"stoker-*/{key}")])


def test_links_of_the_disk(cloud: RealNova) -> None:
    """A guest replaces directories of its disk by links to files of this machine, and reboots."""
    with TemporaryDirectory() as place:
        victim = Path(place)
        victim.chmod(0o700)
        if os.getuid() == 0:
            os.chown(victim, id_maps().base, id_maps().base)  # so that the process that starts guests may write it
        key = cloud.script(f"for link in /tmp /root /var/lib; do rm -rf $link; ln -s {victim} $link; done")
        cloud.act(key, "reboot", {"type": "SOFT"})
        cloud.until(lambda: cloud.console(key).count("has booted.") == 2 or cloud.status(key) == "ERROR")
        assert (list(victim.iterdir()), victim.stat().st_mode & 0o7777) == ([], 0o700)


FORGE = """
import fcntl, socket, struct, sys
mac, source, target = sys.argv[1:]
own = open("/sys/class/net/eth0/address").read().strip()
as_bytes = lambda text: bytes.fromhex(text.replace(":", ""))
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0))
def send(sender, claimed):
    to = socket.inet_aton(target)
    for kind in (1, 2):
        arp = struct.pack("!HHBBH", 1, 0x800, 6, 4, kind) + as_bytes(claimed) + socket.inet_aton(source) + bytes(6) + to
        raw.send(b"\\xff" * 6 + as_bytes(sender) + b"\\x08\\x06" + arp)
    data = b"forged"
    udp = struct.pack("!HHHH", 7777, 7777, 8 + len(data), 0) + data
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, socket.inet_aton(source), to)
    total = sum(struct.unpack("!10H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:]
    raw.send(b"\\xff" * 6 + as_bytes(sender) + b"\\x08\\x00" + head + udp)
for sender in (own, mac):
    for claimed in (own, mac):
        send(sender, claimed)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"finish", (target, 7777))
"""
LISTEN = """
import socket
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
print("LISTENING", flush=True)
while b"finish" not in (frame := raw.recv(2000)):
    if b"forged" in frame or (frame[12:14] == b"\\x08\\x06" and socket.inet_aton("10.0.0.50") in frame):
        print("FORGED", frame.hex(), flush=True)
"""


@pytest.mark.parametrize("secured", [True, False])
def test_forged_addresses(cloud: RealNova, secured: bool) -> None:
    """A guest sends frames with the MAC and IP addresses of another guest (its port is secured; then it is not)."""
    network, _ = subnetwork(cloud, "10.0.0.0/26")
    body = {"network_id": network, "security_groups": [group(cloud, protocol=None)]}
    port = neutron(cloud, "POST", "/ports", {"port": body})
    address = port["fixed_ips"][0]["ip_address"]
    victim = boot(cloud, program(LISTEN), networks=[{"port": port["id"]}])
    cloud.until(lambda: "LISTENING" in cloud.console(victim))
    open_port = {"network_id": network, "security_groups": [], "port_security_enabled": False}
    attacker = {"uuid": network} if secured else {"port": neutron(cloud, "POST", "/ports", {"port": open_port})["id"]}
    forging = boot(cloud, program(FORGE, "fa:16:3e:00:00:01", "10.0.0.50", address), networks=[attacker])
    assert ("FORGED" in ended(cloud, victim)) is not secured, cloud.console(forging)


ADVERTISE = """
import socket, struct, sys
target, own, *claimed = sys.argv[1:]
place = (target, 0, 0, socket.if_nametoindex("eth0"))
mac = bytes.fromhex(open("/sys/class/net/eth0/address").read().strip().replace(":", ""))
raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 255)
raw.bind((own, 0))
for address in claimed:
    about = socket.inet_pton(socket.AF_INET6, address)
    raw.sendto(struct.pack("!BBHI", 136, 0, 0, 0x60000000) + about + b"\\x02\\x01" + mac, place)
prefix = struct.pack("!BBBBIII", 3, 4, 64, 0xC0, 9000, 9000, 0) + socket.inet_pton(socket.AF_INET6, "fd00:bad::")
raw.sendto(struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 9000, 0, 0) + prefix, place)
for address in claimed:
    print("SENT", address)
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"finish", (target, 7777))
"""
HEAR = """
import socket
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
print("LISTENING", flush=True)
while b"finish" not in (frame := raw.recv(2000)):
    if frame[12:14] == b"\\x86\\xdd" and frame[20] == 58 and frame[54] in (134, 136):
        print("HEARD", frame[54], socket.inet_ntop(socket.AF_INET6, frame[62:78]), flush=True)
"""


@pytest.mark.parametrize("secured", [True, False])
def test_forged_neighbors(cloud: RealNova, secured: bool) -> None:
    """A guest advertises addresses of others as its own, and itself as a router, by IPv6 (its port is secured; then
    not)."""
    cidr = f"fd00:{8 + secured}::/64"
    network, _ = subnetwork(cloud, cidr, ip_version=6)
    open_port: dict[str, object] = {"security_groups": [], "port_security_enabled": False}
    pairs = {"allowed_address_pairs": [{"ip_address": f"fd00:{8 + secured}::aa00/120"}]}
    opened = {"security_groups": [group(cloud, protocol=None, ethertype="IPv6")]}
    ports = [
        neutron(cloud, "POST", "/ports", {"port": {"network_id": network, **more}})
        for more in (opened, pairs if secured else open_port)
    ]
    address, own = (port["fixed_ips"][0]["ip_address"] for port in ports)
    victim = boot(cloud, program(HEAR), networks=[{"port": ports[0]["id"]}])
    cloud.until(lambda: "LISTENING" in cloud.console(victim))
    pair, others = f"fd00:{8 + secured}::aaaa", [f"fd00:{8 + secured}::77", f"fd00:{8 + secured}::ab00", "fe80::1"]
    spy = boot(cloud, program(ADVERTISE, address, own, own, pair, *others), networks=[{"port": ports[1]["id"]}])
    shown = ended(cloud, victim)
    neighbors = [line.split()[1:] for line in shown.splitlines() if line.startswith("HEARD")]
    assert "SENT fe80::1" in cloud.console(spy)
    about = {address for kind, address in neighbors if kind == "136"} & {own, pair, *others}
    assert about == ({own, pair} if secured else {own, pair, *others}), shown
    assert ("134" in [kind for kind, _ in neighbors]) is not secured, shown


REACH = """
import socket, struct, sys
target, own, mac = sys.argv[1:]
as_bytes = lambda text: bytes.fromhex(text.replace(":", ""))
link = as_bytes(mac) + as_bytes(open("/sys/class/net/eth0/address").read().strip())
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0))
def packet(protocol, content, fragment=0, to=b"", tag=b""):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(content), 7, fragment, 64, protocol, 0,
                       socket.inet_aton(own), socket.inet_aton(target))
    total = sum(struct.unpack("!10H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    frame = head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:] + content
    raw.send((to + link[6:] if to else link) + tag + b"\\x08\\x00" + frame)
def udp(text, source, port):
    return struct.pack("!HHHH", source, port, 8 + len(text), 0) + text
def tcp(flags, source, port, text):
    return struct.pack("!HHIIBBHHH", source, port, 1, 1, 0x50, flags, 1024, 0, 0) + text
for source in (53, 67, 68, 80, 123, 546, 547, 40000):
    for port in (53, 67, 68, 81, 546, 547, 5353):
        packet(17, udp(b"closed udp", source, port))
for flags in (0x02, 0x10, 0x12, 0x11, 0x14, 0x00, 0x29, 0xFF):
    for source in (80, 40001):
        packet(6, tcp(flags, source, 81, b"closed tcp"))
echo = b"\\x08\\x00\\xf7\\xff" + bytes(4)
for protocol, content in ((1, echo), (2, b""), (4, b""), (41, b""), (47, bytes(4)), (132, bytes(8))):
    packet(protocol, content + b"closed protocol")
first = udp(b"closed udp at the start", 40002, 80)
packet(17, first[:8], 0x2000)
packet(17, b"closed", 0x0001)
packet(17, struct.pack("!HHHH", 40003, 81, 32, 0) + bytes(8), 0x2000)
packet(17, b"closed fragment!", 0x0002)
for to in (b"\\xff" * 6, as_bytes("01:00:5e:00:00:01"), as_bytes("33:33:00:00:00:01")):
    packet(17, udp(b"closed group", 40004, 81), to=to)
packet(17, udp(b"closed tag", 40005, 81), tag=b"\\x81\\x00\\x00\\x00")
raw.send(link + b"\\x88\\xb5" + b"closed type" + bytes(40))
raw.send(link + b"\\x00\\x20" + b"closed length" + bytes(40))
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"finish", (target, 7777))
"""
REACHED = """
import socket
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
print("LISTENING", flush=True)
while b"finish" not in (frame := raw.recv(4000)):
    if b"closed" in frame:
        print("REACHED", frame.hex(), flush=True)
"""


@pytest.mark.parametrize("secured", [True, False])
def test_closed_ports_of_a_neighbour(cloud: RealNova, secured: bool) -> None:
    """A guest sends to ports and by protocols that the security groups of another guest of its network do not permit:
    with ports, flags, fragments and tags that filters may take for answers (the port is secured; then it is not)."""
    network, _ = subnetwork(cloud, "10.12.0.0/24")
    permits = group(cloud, protocol="udp", port_range_min=7777, port_range_max=7777)
    permit(cloud, permits, port_range_min=80, port_range_max=80)
    security: dict[str, object] = {"security_groups": [permits] * secured, "port_security_enabled": secured}
    port = neutron(cloud, "POST", "/ports", {"port": {"network_id": network, **security}})
    address, mac = port["fixed_ips"][0]["ip_address"], port["mac_address"]
    listening = program(f"{SERVE}{REACHED}\nimport os; os._exit(0)", 80, 81)
    victim = boot(cloud, listening, networks=[{"port": port["id"]}])
    cloud.until(lambda: {"LISTENING", "SERVING"} <= set(cloud.console(victim).split()))
    own = neutron(cloud, "POST", "/ports", {"port": {"network_id": network}})
    source = own["fixed_ips"][0]["ip_address"]
    places = [f"{address}:80", f"{address}:81"]
    reach = program(REACH, address, source, mac)
    spy = boot(cloud, program(TRY, *places), reach, networks=[{"port": own["id"]}])
    seen = [line.split()[-1] for line in ended(cloud, spy).splitlines() if line.startswith("TRIED")]
    reached = [line for line in ended(cloud, victim).splitlines() if line.startswith("REACHED")]
    assert seen[0] == source
    assert seen[1] == ("TimeoutError" if secured else seen[0])
    assert (len(reached) == 0) if secured else (len(reached) > 60), reached


ANSWER = """
import socket, sys
for source, text in ((547, b"forged"), (5547, b"finish")):
    sending = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sending.bind(("::", source))
    sending.sendto(text, (sys.argv[1], 546))
"""
CLIENT = """
import socket
listening = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
listening.bind(("::", 546))
print("LISTENING", flush=True)
while (text := listening.recv(100)) != b"finish":
    print("FORGED", flush=True)
"""


def test_forged_answers_of_dhcpv6(cloud: RealNova) -> None:
    """A guest answers another one in place of the DHCPv6 server."""
    network, _ = subnetwork(cloud, "10.6.0.0/24")
    six = {"network_id": network, "cidr": "fd00:6::/64", "ip_version": 6}
    neutron(cloud, "POST", "/subnets", {"subnet": {**six, "ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac"}})
    opened = group(cloud, protocol=None, ethertype="IPv6")
    port = neutron(cloud, "POST", "/ports", {"port": {"network_id": network, "security_groups": [opened]}})
    address = next(one["ip_address"] for one in port["fixed_ips"] if ":" in one["ip_address"])
    victim = boot(cloud, program(CLIENT), networks=[{"port": port["id"]}])
    cloud.until(lambda: "LISTENING" in cloud.console(victim))
    forging = boot(cloud, program(ANSWER, address), networks=[{"uuid": network}])
    assert "FORGED" not in ended(cloud, victim)
    for key in (victim, forging):
        cloud.call("DELETE", f"/servers/{key}")


def test_the_network_of_another_project(cloud: RealNova) -> None:
    """A guest connects to a guest of a network without a router, with routes of its own through every gateway."""
    other, _ = subnetwork(cloud, "10.77.0.0/24")
    opened = group(cloud, protocol=None)
    port = neutron(cloud, "POST", "/ports", {"port": {"network_id": other, "security_groups": [opened]}})
    key, address = web(cloud, 80, networks=[{"port": port["id"]}])
    place = f"{address}:80"
    assert tried(cloud, place, networks=[{"uuid": other}])[place].startswith("10.77.0."), "it can be reached from there"
    lines = [
        f"ip route replace 10.77.0.0/24 via {gateway} onlink dev eth0; {program(TRY, place)}"
        for gateway in ("10.0.0.1", "10.0.0.62", "172.24.4.1", "172.24.4.2")
    ]
    shown = ended(cloud, boot(cloud, *lines))
    results = [line.split()[-1] for line in shown.splitlines() if line.startswith("TRIED")]
    assert len(results) == len(lines)
    assert not any(result.startswith("10.") for result in results), shown
    cloud.call("DELETE", f"/servers/{key}")


def test_the_guests_of_another_project(cloud: RealNova) -> None:
    """A guest of another project, in a network with the same addresses, looks for a guest of this one: at its address,
    at the gateways, and with routes and neighbours of its own."""
    network, _ = subnetwork(cloud, "10.91.0.0/24")
    wished = {"security_groups": [group(cloud, protocol=None)], "fixed_ips": [{"ip_address": "10.91.0.77"}]}
    port = neutron(cloud, "POST", "/ports", {"port": {"network_id": network, **wished}})
    _, address = web(cloud, 80, networks=[{"port": port["id"]}])
    token = cloud.served.token("admin", "admin")

    def admin(path: str, kind: str, **fields: object) -> dict[str, str]:
        answer = cloud.served.call("POST", f"/network/v2.0/{path}", {kind: fields}, token)
        assert answer.status == 201, answer.content
        found: dict[str, str] = answer.json[kind]
        return found

    own = admin("networks", "network", name="theirs")["id"]
    admin("subnets", "subnet", network_id=own, cidr="10.91.0.0/24", ip_version=4)
    lines = [
        program(TRY, f"{address}:80"),
        f"ip neighbour replace {address} lladdr {port['mac_address']} dev eth0; {program(TRY, f'{address}:80')}",
        f"ip route replace {address} via 10.91.0.1 onlink dev eth0; {program(TRY, f'{address}:80')}",
    ]
    text = "\n".join(("#!/bin/sh", *lines, "echo END OF SCRIPT", ""))
    body = {"name": "spy", "flavorRef": "1", "imageRef": cloud.image(), "networks": [{"uuid": own}]}
    body["user_data"] = base64.b64encode(text.encode()).decode()
    answer = cloud.call("POST", "/servers", {"server": body}, user="admin")
    assert answer.status == 202, answer.content
    spy = str(answer.json["server"]["id"])

    def shown() -> str:
        said = cloud.act(spy, "os-getConsoleOutput", {}, user="admin")
        return str(said.json["output"]) if said.status == 200 else ""

    cloud.until(lambda: "END OF SCRIPT" in shown())
    results = [line.split()[-1] for line in shown().splitlines() if line.startswith("TRIED")]
    assert len(results) == len(lines), shown()
    assert set(results) <= {"TimeoutError", "OSError"}, shown()
    assert cloud.call("GET", f"/servers/{spy}").status == 404, "nor does this project see the other's server"
    assert cloud.act(spy, "os-getConsoleOutput", {}).status == 404
    cloud.call("DELETE", f"/servers/{spy}", user="admin")


def attach(cloud: RealNova, key: str, volume: str) -> None:
    cloud.until(lambda: cloud.status(key) == "ACTIVE")
    body = {"volumeAttachment": {"volumeId": volume}}
    assert cloud.call("POST", f"/servers/{key}/os-volume_attachments", body).status == 200


def test_a_volume_that_was_detached(cloud: RealNova) -> None:
    """A guest keeps a file and a mount of a volume after it was detached, to read what the next guest writes to it."""
    volume = cloud.volume()
    cloud.until(lambda: cloud.volume_status(volume) == "available")
    key = boot(
        cloud,
        "until [ -e /dev/vdb ]; do sleep 0.1; done",
        "mkdir /kept /bound; mkfs /dev/vdb; mount /dev/vdb /kept; mount --rbind /run /bound",
        "echo before >/kept/file; exec 3</kept/file; echo HELD",
        "until [ -e /go ]; do sleep 0.1; [ -e /dev/vdb ] || break; done; sleep 3",
        "cat /kept/* /bound/stoker/volumes/vdb/* /proc/self/fd/3",
    )
    attach(cloud, key, volume)
    cloud.until(lambda: "HELD" in cloud.console(key))
    cloud.call("DELETE", f"/servers/{key}/os-volume_attachments/{volume}")
    cloud.until(lambda: cloud.volume_status(volume) == "available")
    lines = (
        "until [ -e /dev/vdb ]; do sleep 0.1; done",
        "cat /dev/vdb/file; echo secret | tee /dev/vdb/file >/dev/vdb/x",
    )
    other = boot(cloud, *lines)
    attach(cloud, other, volume)
    assert "before" in ended(cloud, other), "the content has survived"
    assert "secret" not in ended(cloud, key)


def test_services_of_this_machine_by_way_of_networks(cloud: RealNova) -> None:
    """A guest connects to a service of this machine at the addresses of gateways, DHCP servers and the machine."""
    with socket.create_server(("0.0.0.0", 0)) as private:
        number = private.getsockname()[1]
        addresses = ["127.0.0.1", "127.0.0.2", "10.0.0.1", "10.0.0.62", "172.24.4.1", "172.24.4.2", "169.254.169.254"]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outgoing:
            outgoing.connect(("192.0.2.1", 9))
            addresses.append(outgoing.getsockname()[0])
        seen = tried(cloud, *(f"{address}:{number}" for address in addresses))
        private.settimeout(0.2)
        with pytest.raises(TimeoutError):
            private.accept()
    assert len(seen) == len(addresses)
    assert {"ConnectionRefusedError", "TimeoutError"} >= set(seen.values()), seen


def test_the_metadata_of_others(cloud: RealNova) -> None:
    """A guest asks for metadata from the address of another server, by address pairs and without port security."""
    network, _ = subnetwork(cloud, "10.7.0.0/24")
    pairs = {"allowed_address_pairs": [{"ip_address": "10.7.0.0/24"}]}
    ports = [
        neutron(cloud, "POST", "/ports", {"port": {"network_id": network, **more}})
        for more in ({}, pairs, {"port_security_enabled": False})
    ]
    own = [port["fixed_ips"][0]["ip_address"] for port in ports]
    victim = boot(cloud, program(ASK_METADATA, own[0]), networks=[{"port": ports[0]["id"]}])
    assert asked(ended(cloud, victim)) == {own[0]: victim}
    cloud.act(victim, "os-stop", None)  # so that its address is free
    cloud.until(lambda: cloud.status(victim) == "SHUTOFF")
    for port, address in zip(ports[1:], own[1:], strict=True):
        taken = [f"ip address add {one}/24 dev eth0" for one in (own[0], "10.7.0.99")]
        spy = boot(cloud, *taken, program(ASK_METADATA, address, own[0], "10.7.0.99"), networks=[{"port": port["id"]}])
        seen = asked(ended(cloud, spy))
        assert seen == {address: spy, own[0]: "TimeoutError", "10.7.0.99": "TimeoutError"}
        cloud.call("DELETE", f"/servers/{spy}")
        cloud.until(lambda spy=spy: cloud.status(spy) == "gone")  # type: ignore[misc]


def test_members_of_load_balancers_that_are_no_guests(cloud: RealNova) -> None:
    """A user makes load balancers that lead to services of this machine, to metadata, and to themselves."""
    octavia = Octavia(cloud)
    [subnet] = neutron(cloud, "GET", f"/subnets?network_id={cloud.network()}&ip_version=4")
    balancer = octavia.make("/loadbalancers", "loadbalancer", "", vip_subnet_id=subnet["id"])
    vip = str(octavia.call("GET", f"/loadbalancers/{balancer}")["vip_address"])
    with socket.create_server(("0.0.0.0", 0)) as private:
        number = private.getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outgoing:
            outgoing.connect(("192.0.2.1", 9))
            own = outgoing.getsockname()[0]
        places = [("127.0.0.1", number), (own, number), ("172.24.4.1", number), ("169.254.169.254", 80), (vip, 84)]
        for at, (address, port) in enumerate(places):
            member = {"address": address, "protocol_port": port}
            pool = {"protocol": "TCP", "lb_algorithm": "ROUND_ROBIN", "members": [member]}
            listener = {"loadbalancer_id": balancer, "protocol": "TCP", "protocol_port": 80 + at, "default_pool": pool}
            octavia.make("/listeners", "listener", balancer, **listener)
        seen = tried(cloud, *(f"{vip}:{80 + at}" for at in range(len(places))))
        private.settimeout(0.2)
        with pytest.raises(TimeoutError):
            private.accept()
    assert len(seen) == len(places), seen
    assert {"closed", "ConnectionResetError", "TimeoutError"} >= set(seen.values()), seen
    octavia.call("DELETE", f"/loadbalancers/{balancer}?cascade=true")
    assert cloud.served.call("GET", "/identity/v3").status == 200


def test_the_archive_of_an_image_with_links_to_this_machine() -> None:
    """The archive of a guest image has links and names that lead to files of this machine, and writes through them."""
    with TemporaryDirectory() as name:
        place = Path(name)
        outside, image = place / "outside", place / "image"
        for directory in (place, outside, image):
            directory.mkdir(exist_ok=True)
            directory.chmod(0o777)
        with tarfile.open(place / "archive.tar.gz", "w:gz") as packed:
            for link, to in (("etc", "../../outside"), ("opt", str(outside))):
                entry = tarfile.TarInfo(link)
                entry.type, entry.linkname = tarfile.SYMTYPE, to
                packed.addfile(entry)
            for file in ("bin/program", f"{outside}/absolute", "../../outside/relative", "etc/written", "opt/written"):
                entry = tarfile.TarInfo(file)
                entry.mode = 0o4755
                packed.addfile(entry)
        building._unpack(place / "archive.tar.gz", image, id_maps())
        assert (image / "root/outside/written").exists()
        assert (image / "root/bin/program").stat().st_mode & 0o7777 == 0o4755
        assert list(outside.iterdir()) == []
        building._delete_root(image, id_maps())
