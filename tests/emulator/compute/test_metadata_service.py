"""The metadata service: the documents that agents in guests read, and how a guest is identified."""

from __future__ import annotations

import base64
import hmac
import json
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.main import _vendor_data, main
from openstack_emulator.testing import Answer, ServedCloud

USER_DATA = b"#cloud-config\nhostname: \xff\n"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0v3m0Zt8wzJr1hTQ0mV3Q8m6eY0sQhQkzqk0ZyC0bX demo@example.org"
ADDRESS = "127.0.0.9"
OPENSTACK = ("2012-08-10", "2013-04-04", "2013-10-17", "2015-10-15", "2016-06-30", "2016-10-06", "2017-02-22",
             "2018-08-27", "2020-10-14", "latest")  # fmt: skip


class Guest:
    """A server on a network of loopback addresses, so that requests can come from its address."""

    def __init__(self, served: ServedCloud) -> None:
        self.served = served
        self.token = served.token("demo", "demo")
        network = self.post("/network/v2.0/networks", "network", {"name": "inside", "mtu": 1400})
        subnet = {"network_id": network["id"], "ip_version": 4, "cidr": "127.0.0.0/24", "name": "s"}
        route = {"destination": "10.9.0.0/16", "nexthop": "127.0.0.2"}
        rest = {"enable_dhcp": False, "dns_nameservers": ["127.0.0.53"], "host_routes": [route]}
        self.subnet = self.post("/network/v2.0/subnets", "subnet", {**subnet, **rest})
        port = {"network_id": network["id"], "fixed_ips": [{"ip_address": ADDRESS}]}
        self.port = self.post("/network/v2.0/ports", "port", port)
        self.post("/compute/v2.1/os-keypairs", "keypair", {"name": "demo", "public_key": KEY})
        image = self.call("GET", "/image/v2/images?name=cirros").json["images"][0]["id"]
        body = {
            "name": "Web 1",
            "imageRef": image,
            "flavorRef": "1",
            "networks": [{"port": self.port["id"], "tag": "front"}],
            "key_name": "demo",
            "metadata": {"role": "web"},
            "user_data": base64.b64encode(USER_DATA).decode(),
            "personality": [{"path": "/etc/motd", "contents": base64.b64encode(USER_DATA).decode()}],
        }
        self.id = self.post("/compute/v2.1/servers", "server", body)["id"]
        served.advance(5)
        self.project = self.call("GET", f"/compute/v2.1/servers/{self.id}").json["server"]["tenant_id"]

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        headers = {"OpenStack-API-Version": "compute 2.42"}
        return self.served.call(method, path, body, self.token, headers)

    def post(self, path: str, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.call("POST", path, {kind: body})
        assert answer.status in (200, 201, 202), answer.content
        made: dict[str, Any] = answer.json[kind]
        return made

    def ask(self, path: str, method: str = "GET", body: bytes = b"", source: str = ADDRESS) -> Answer:
        """Send a request from an address."""
        connection = HTTPConnection("127.0.0.1", self.served.port, timeout=30, source_address=(source, 0))
        try:
            connection.request(method, f"/metadata{path}", body)
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, response.read())
        finally:
            connection.close()

    def text(self, path: str) -> str:
        answer = self.ask(path)
        assert answer.status == 200, (path, answer)
        return answer.content.decode()


@pytest.fixture
def guest(served: ServedCloud) -> Guest:
    return Guest(served)


def test_openstack_metadata_documents(guest: Guest) -> None:
    assert tuple(guest.text("/openstack").split("\n")) == OPENSTACK
    latest = guest.text("/openstack/latest/").split("\n")
    assert latest == [
        "meta_data.json",
        "user_data",
        "password",
        "vendor_data.json",
        "network_data.json",
        "vendor_data2.json",
    ]
    answer = guest.ask("/openstack/latest/meta_data.json")
    meta = answer.json
    assert answer.headers["content-type"] == "application/json"
    assert len(base64.b64decode(meta.pop("random_seed"))) == 512
    assert meta == {
        "uuid": guest.id,
        "availability_zone": "nova",
        "hostname": "web-1.novalocal",
        "launch_index": 0,
        "name": "Web 1",
        "meta": {"role": "web"},
        "files": [{"content_path": "/content/0000", "path": "/etc/motd"}],
        "public_keys": {"demo": KEY},
        "keys": [{"name": "demo", "type": "ssh", "data": KEY}],
        "project_id": guest.project,
        "devices": [
            {"type": "nic", "bus": "none", "address": "none", "mac": guest.port["mac_address"], "tags": ["front"]}
        ],
        "dedicated_cpus": [],
    }
    assert guest.ask("/openstack/latest/user_data").content == USER_DATA
    assert guest.ask("/openstack/content/0000").content == USER_DATA
    for missing in ("/openstack/content", "/openstack/content/0001", "/openstack/content/0000/x"):
        assert guest.ask(missing).status == 404
    assert json.loads(guest.text("/openstack/latest/vendor_data.json")) == {}
    assert json.loads(guest.text("/openstack/latest/vendor_data2.json")) == {"static": {}}
    guest.served.cloud.vendor_data["region"] = {"name": "south"}
    assert json.loads(guest.text("/openstack/latest/vendor_data.json")) == {"region": {"name": "south"}}
    assert json.loads(guest.text("/openstack/latest/vendor_data2.json")) == {"static": {"region": {"name": "south"}}}
    file = {"path": "/etc/issue", "contents": ""}
    image = guest.call("GET", "/image/v2/images?name=cirros").json["images"][0]["id"]
    guest.call(
        "POST", f"/compute/v2.1/servers/{guest.id}/action", {"rebuild": {"imageRef": image, "personality": [file]}}
    )
    guest.served.advance(5)
    [shown] = guest.ask("/openstack/latest/meta_data.json").json["files"]
    assert (shown["path"], guest.ask("/openstack/content/0000").content) == ("/etc/issue", b"")


def test_vendor_data_is_read_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, list_, broken = (tmp_path / name for name in ("good.json", "list.json", "broken.json"))
    for path, text in ((good, '{"a": 1}'), (list_, "[]"), (broken, "{")):
        path.write_text(text)
    assert _vendor_data(str(good)) == {"a": 1}
    for path, words in ((list_, "must contain a JSON object"), (broken, "cannot be read")):
        with pytest.raises(SystemExit):
            main(["up", "--vendor-data", str(path)])
        assert words in capsys.readouterr().err


def test_older_metadata_versions_have_fewer_keys(guest: Guest) -> None:
    assert guest.text("/openstack/2012-08-10").split("\n") == ["meta_data.json", "user_data"]
    assert guest.ask("/openstack/2012-08-10/network_data.json").status == 404
    old = guest.ask("/openstack/2012-08-10/meta_data.json").json
    assert not {"random_seed", "keys", "project_id", "devices"} & old.keys()
    assert guest.text("/1.0/meta-data").split("\n") == [
        "ami-id",
        "ami-launch-index",
        "ami-manifest-path",
        "hostname",
        "instance-id",
        "local-ipv4",
        "reservation-id",
        "security-groups",
    ]
    for path in ("/openstack/2099-01-01", "/openstack/2099-01-01/meta_data.json", "/2099-01-01/meta-data", "/no"):
        assert guest.ask(path).status == 404, path


def test_network_data_of_a_guest(guest: Guest) -> None:
    found = json.loads(guest.text("/openstack/latest/network_data.json"))
    [link], [network] = found["links"], found["networks"]
    dns = [{"type": "dns", "address": "127.0.0.53"}]
    assert link == {
        "id": f"tap{guest.port['id'][:11]}",
        "vif_id": guest.port["id"],
        "type": "ovs",
        "mtu": 1400,
        "ethernet_mac_address": guest.port["mac_address"],
    }
    assert network == {
        "id": "network0",
        "link": link["id"],
        "network_id": guest.port["network_id"],
        "type": "ipv4",
        "ip_address": ADDRESS,
        "netmask": "255.255.255.0",
        "routes": [
            {"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": "127.0.0.1"},
            {"network": "10.9.0.0", "netmask": "255.255.0.0", "gateway": "127.0.0.2"},
        ],
        "services": dns,
    }
    assert found["services"] == dns
    changed = {"subnet": {"enable_dhcp": True}}
    assert guest.call("PUT", f"/network/v2.0/subnets/{guest.subnet['id']}", changed).status == 200
    [network] = json.loads(guest.text("/openstack/latest/network_data.json"))["networks"]
    assert network.keys() == {"id", "link", "network_id", "type"}
    assert network["type"] == "ipv4_dhcp"


def test_ec2_metadata_tree(guest: Guest) -> None:
    """A crawl, as cloud-init and os-collect-config do it, finds a value at the end of every path."""

    def crawl(path: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in guest.text(path).split("\n"):
            key, labelled, _ = name.partition("=")
            if labelled:
                found |= {f"{key}/{rest}": value for rest, value in crawl(f"{path}{key}/").items()}
            elif name.endswith("/"):
                found |= {f"{name}{rest}": value for rest, value in crawl(f"{path}{name}").items()}
            else:
                found[name] = guest.text(f"{path}{name}")
        return found

    versions = guest.text("/").split("\n")
    assert versions[-2:] == ["2009-04-04", "latest"]
    assert guest.text("/2009-04-04/").split("\n") == ["meta-data/", "user-data"]
    assert guest.text("/latest/meta-data/public-keys/") == "0=demo"
    found = crawl("/latest/meta-data/")
    assert found["public-keys/0/openssh-key"] == KEY
    assert found["placement/availability-zone"] == "nova"
    assert found["block-device-mapping/root"] == "/dev/vda"
    assert found["instance-id"].startswith("i-0000")
    assert {name: found[name] for name in ("hostname", "local-ipv4", "instance-type", "instance-action")} == {
        "hostname": "web-1.novalocal",
        "local-ipv4": ADDRESS,
        "instance-type": "m1.tiny",
        "instance-action": "none",
    }
    assert crawl("/2009-04-04/meta-data/") == found
    assert guest.ask("/latest/user-data").content == USER_DATA
    for path in ("/latest/meta-data/no", "/latest/meta-data/hostname/more", "/latest/meta-data/public-keys/0/_label"):
        assert guest.ask(path).status == 404, path


def test_guest_is_identified_by_address(guest: Guest) -> None:
    assert guest.ask("/openstack/latest/meta_data.json", source="127.0.0.8").status == 404
    second = guest.post("/network/v2.0/networks", "network", {"name": "same"})
    subnet = {"network_id": second["id"], "ip_version": 4, "cidr": "127.0.0.0/24"}
    guest.post("/network/v2.0/subnets", "subnet", subnet)
    port = {"network_id": second["id"], "fixed_ips": [{"ip_address": ADDRESS}]}
    key = guest.post("/network/v2.0/ports", "port", port)["id"]
    assert guest.ask("/latest/user-data").status == 200, "a port of no server does not count"
    image = guest.call("GET", "/image/v2/images?name=cirros").json["images"][0]["id"]
    other = {"name": "o", "imageRef": image, "flavorRef": "1", "networks": [{"port": key}]}
    guest.post("/compute/v2.1/servers", "server", other)
    guest.served.advance(5)
    assert guest.ask("/latest/user-data").status == 404, "the address is of two servers"


def test_a_guest_sets_its_password_once(guest: Guest) -> None:
    path, api = "/openstack/latest/password", f"/compute/v2.1/servers/{guest.id}/os-server-password"
    assert guest.text(path) == ""
    assert guest.ask(path, "POST", b"x" * 1021).status == 400
    assert guest.ask("/openstack/2012-08-10/password", "POST", b"x").status == 404
    assert guest.ask(path, "POST", b"ZW5jcnlwdGVk").status == 200
    assert guest.ask(path, "POST", b"other").status == 409
    assert guest.text(path) == "ZW5jcnlwdGVk"
    assert guest.call("GET", api).json == {"password": "ZW5jcnlwdGVk"}
    assert guest.call("DELETE", api).status == 204
    assert guest.text(path) == ""


def test_a_proxy_asks_for_a_guest_with_a_signature(served: ServedCloud, guest: Guest) -> None:
    secret = served.cloud.password_of("metadata-proxy")
    signature = hmac.new(secret.encode(), guest.id.encode(), "sha256").hexdigest()
    headers = {"X-Instance-ID": guest.id, "X-Tenant-ID": guest.project, "X-Instance-ID-Signature": signature}

    def status(**changes: str | None) -> int:
        sent = {name: value for name, value in {**headers, **changes}.items() if value is not None}
        return served.call("GET", "/metadata/openstack/latest/meta_data.json", headers=sent).status

    assert status() == 200
    assert status(**{"X-Instance-ID-Signature": None}) == 403
    assert status(**{"X-Instance-ID-Signature": signature.replace(signature[0], "g")}) == 403
    assert status(**{"X-Instance-ID-Signature": "\xfc"}) == 403
    assert status(**{"X-Instance-ID": "0" * 8}) == 403
    assert status(**{"X-Instance-ID": f"{guest.id},{guest.id}"}) == 400
    assert status(**{"X-Instance-ID": None}) == 400
    assert status(**{"X-Tenant-ID": None}) == 400
    assert status(**{"X-Tenant-ID": "other"}) == 404
    stranger = "00000000-0000-0000-0000-000000000000"
    signature = hmac.new(secret.encode(), stranger.encode(), "sha256").hexdigest()
    assert status(**{"X-Instance-ID": stranger, "X-Instance-ID-Signature": signature}) == 404
