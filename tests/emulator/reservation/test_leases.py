"""Leases over HTTP: hosts, servers and floating IPs for a period, on the cloud's clock."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

HOUR = 3600.0
# The clock of the served cloud begins at 2023-11-14 22:13:20.
PERIOD = {"start_date": "2023-11-14 23:00", "end_date": "2023-11-15 02:00"}
TO_START, TO_END = HOUR, 4 * HOUR
ONE_HOST = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": '[">=", "$vcpus", "2"]',
    "resource_properties": "",
}
ONE_SERVER = {
    "resource_type": "virtual:instance",
    "amount": 1,
    "vcpus": 16,
    "memory_mb": 512,
    "disk_gb": 1,
    "affinity": False,
    "resource_properties": None,
}


class Client:
    """A client of the reservation and compute services."""

    def __init__(self, served: ServedCloud) -> None:
        self.served = served

    def call(self, method: str, path: str, body: Any = None, user: str = "demo") -> Answer:
        base = "" if path.startswith(("/compute", "/network", "/identity", "/image")) else "/reservation/v1"
        return self.served.call(method, base + path, body, self.served.token(user, user))

    def host(self, name: str, **capabilities: Any) -> dict[str, Any]:
        answer = self.call("POST", "/os-hosts", {"name": name, **capabilities}, "admin")
        assert answer.status == 201, answer.content
        made: dict[str, Any] = answer.json["host"]
        return made

    def lease(self, *reservations: dict[str, Any], **fields: Any) -> dict[str, Any]:
        answer = self.create(*reservations, **fields)
        assert answer.status == 201, answer.content
        made: dict[str, Any] = answer.json["lease"]
        return made

    def create(self, *reservations: dict[str, Any], **fields: Any) -> Answer:
        return self.call("POST", "/leases", {"name": "l", **PERIOD, "reservations": [*reservations], **fields})

    def shown(self, lease: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/leases/{lease['id']}").json["lease"]
        return found

    def state(self, lease: dict[str, Any]) -> tuple[str, list[str], dict[str, str]]:
        """The statuses of a lease, of its reservations and of its events by type."""
        found = self.shown(lease)
        events = {event["event_type"]: event["status"] for event in found["events"]}
        return found["status"], [one["status"] for one in found["reservations"]], events

    def server(self, flavor: str = "1", **hints: str) -> dict[str, Any]:
        """Create a server and return it when it is built or has failed."""
        network = self.call("GET", "/network/v2.0/networks?name=private", user="demo").json["networks"][0]["id"]
        image = self.call("GET", "/image/v2/images?name=cirros").json["images"][0]["id"]
        request_body: dict[str, Any] = {
            "name": "s",
            "flavorRef": flavor,
            "imageRef": image,
            "networks": [{"uuid": network}],
        }
        body: dict[str, Any] = {"server": request_body, "os:scheduler_hints": hints}
        answer = self.call("POST", "/compute/v2.1/servers", body)
        assert answer.status == 202, answer.content
        self.served.advance(5)
        path = f"/compute/v2.1/servers/{answer.json['server']['id']}"
        found: dict[str, Any] = self.call("GET", path, user="admin").json["server"]
        return found

    def aggregates(self) -> dict[str, list[str]]:
        rows = self.call("GET", "/compute/v2.1/os-aggregates", user="admin").json["aggregates"]
        return {row["name"]: row["hosts"] for row in rows}


@pytest.fixture
def client(served: ServedCloud) -> Client:
    return Client(served)


def test_hosts_are_hypervisors_with_capabilities(client: Client) -> None:
    made = client.host("compute-1", gpu=True, id="", vcpus=1)
    assert (made["id"], made["hypervisor_hostname"], made["gpu"], made["vcpus"]) == ("1", "compute-1", "True", 512)
    assert client.aggregates()["freepool"] == ["compute-1"]
    assert client.call("POST", "/os-hosts", {"name": "compute-1"}, "admin").status == 409
    missing = client.call("POST", "/os-hosts", {"name": "no"}, "admin")
    assert missing.json == {"error_code": 404, "error_message": "Host 'no' not found!", "error_name": 404}
    assert client.call("POST", "/os-hosts", {}, "admin").status == 403
    refused: list[Any] = [[], {"name": "compute-2", "gpu": {}}, {"name": "compute-2", "x" * 65: "1"}]
    for body in refused:
        assert client.call("POST", "/os-hosts", body, "admin").status == 400
    for method, path in (
        ("GET", "/os-hosts"),
        ("POST", "/os-hosts"),
        ("GET", "/os-hosts/1"),
        ("DELETE", "/os-hosts/1"),
    ):
        assert client.call(method, path, {"name": "compute-2"}).status == 403
    changed = client.call("PUT", "/os-hosts/1", {"gpu": "A100", "ssd": True}, "admin").json["host"]
    assert (changed["gpu"], changed["ssd"]) == ("A100", "True")
    assert client.call("PATCH", "/os-hosts/properties/ssd", {"private": True}, "admin").status == 200
    listed = client.call("GET", "/os-hosts/properties?detail=true").json["resource_properties"]
    assert [(one["property"], one["values"]) for one in listed] == [("gpu", ["A100"]), ("vcpus", ["1"])]
    assert len(client.call("GET", "/os-hosts/properties?all=true", user="admin").json["resource_properties"]) == 3
    assert client.call("GET", "/os-hosts/properties?all=true").status == 403
    assert client.call("DELETE", "/os-hosts/1", user="admin").status == 204
    assert client.call("GET", "/os-hosts/1", user="admin").status == 404
    assert client.aggregates()["freepool"] == []


def test_the_version_is_found_without_a_token(served: ServedCloud) -> None:
    [version] = served.call("GET", "/reservation/").json["versions"]
    assert version["id"] == "v1.0"
    assert served.call("GET", "/reservation/v1/leases").status == 401


def test_a_leased_host_is_for_servers_that_name_the_reservation(client: Client, served: ServedCloud) -> None:
    client.host("compute-1")
    client.host("compute-2")
    lease = client.lease(ONE_HOST)
    [reservation] = lease["reservations"]
    assert client.state(lease) == (
        "PENDING",
        ["pending"],
        {"start_lease": "UNDONE", "end_lease": "UNDONE", "before_end_lease": "UNDONE"},
    )
    assert lease["start_date"] == "2023-11-14T23:00:00.000000"
    assert {event["event_type"]: event["time"] for event in lease["events"]}["before_end_lease"] == (
        "2023-11-15T01:00:00.000000"
    )
    assert client.server(reservation=reservation["id"])["status"] == "ERROR"
    served.advance(TO_START)
    assert client.state(lease)[:2] == ("ACTIVE", ["active"])
    held = client.aggregates()[reservation["id"]]
    assert held == ["compute-1"]
    assert client.server()["OS-EXT-SRV-ATTR:host"] in ("compute-3", "compute-4")
    inside = client.server(reservation=reservation["id"])
    assert inside["OS-EXT-SRV-ATTR:host"] == "compute-1"
    assert client.call("DELETE", "/os-hosts/1", user="admin").status == 409
    served.advance(TO_END)
    assert client.state(lease) == (
        "TERMINATED",
        ["deleted"],
        {"start_lease": "DONE", "end_lease": "DONE", "before_end_lease": "DONE"},
    )
    assert client.aggregates() == {"freepool": ["compute-2", "compute-1"]}
    served.advance(5)
    assert client.call("GET", f"/compute/v2.1/servers/{inside['id']}").status == 404
    assert client.call("PUT", f"/leases/{lease['id']}", {"end_date": "2023-11-17 00:00"}).status == 400
    assert client.call("PUT", f"/leases/{lease['id']}", {"name": "old"}).json["lease"]["name"] == "old"
    assert client.call("DELETE", f"/leases/{lease['id']}").status == 204
    assert client.call("GET", f"/leases/{lease['id']}").status == 404


def test_hosts_are_reserved_for_one_lease_at_a_time(client: Client) -> None:
    client.host("compute-1", gpu="True")
    client.host("compute-2")
    with_gpu = {**ONE_HOST, "resource_properties": '["and", ["==", "$gpu", "True"], ["!=", "$vcpus", "1"]]'}
    first = client.lease(with_gpu)
    assert client.create(with_gpu).json["error_message"] == "Not enough hosts available"
    assert client.create(ONE_HOST, ONE_HOST).status == 409
    later = {"start_date": "2023-11-15 02:00", "end_date": "2023-11-15 03:00"}
    second = client.lease(with_gpu, **later)
    allocation = client.call("GET", "/os-hosts/1/allocation", user="admin").json["allocation"]
    assert [one["lease_id"] for one in allocation["reservations"]] == [first["id"], second["id"]]
    path = f"/os-hosts/allocations?lease_id={second['id']}"
    listed = client.call("GET", path, user="admin").json["allocations"]
    assert [len(one["reservations"]) for one in listed] == [1, 0]
    longer = {"end_date": "2023-11-15 02:30"}
    assert client.call("PUT", f"/leases/{first['id']}", longer).status == 409
    assert client.call("PUT", "/os-hosts/1", {"gpu": "False"}, "admin").status == 409
    assert client.call("DELETE", f"/leases/{second['id']}").status == 204
    changed = client.call("PUT", f"/leases/{first['id']}", {**longer, "name": "n"}).json["lease"]
    assert (changed["name"], changed["end_date"]) == ("n", "2023-11-15T02:30:00.000000")
    times = {event["event_type"]: event["time"] for event in changed["events"]}
    assert (times["end_lease"], times["before_end_lease"]) == (changed["end_date"], "2023-11-15T01:30:00.000000")


def test_an_active_lease_can_get_more_hosts_but_no_other_start(client: Client, served: ServedCloud) -> None:
    for name in ("compute-1", "compute-2"):
        client.host(name)
    lease = client.lease(ONE_HOST, start_date="now")
    served.advance(1)
    [reservation] = lease["reservations"]
    more = {"reservations": [{"id": reservation["id"], "min": 2, "max": 2}]}
    assert client.call("PUT", f"/leases/{lease['id']}", {"start_date": "2023-11-14 23:30"}).status == 400
    changed = client.call("PUT", f"/leases/{lease['id']}", more).json["lease"]["reservations"][0]
    assert (changed["max"], changed["resources_changed"]) == (2, True)
    assert client.aggregates()[reservation["id"]] == ["compute-1", "compute-2"]
    assert client.call("PUT", f"/leases/{lease['id']}", {"reservations": [{"id": "x"}]}).status == 400
    assert client.call("DELETE", f"/leases/{lease['id']}").status == 204
    assert sorted(client.aggregates()["freepool"]) == ["compute-1", "compute-2"]


def test_instance_reservation_has_its_own_flavor(client: Client, served: ServedCloud) -> None:
    client.host("compute-1")
    lease = client.lease({**ONE_SERVER, "affinity": True}, ONE_SERVER)
    assert client.create({**ONE_SERVER, "vcpus": 512 - 2 * 16 + 1}).status == 409
    assert client.create(ONE_HOST).status == 409
    [together, alone] = lease["reservations"]
    assert together["flavor_id"] == together["id"]
    assert client.call("GET", f"/compute/v2.1/flavors/{together['id']}").status == 404
    assert client.call("GET", f"/compute/v2.1/os-server-groups/{alone['server_group_id']}").status == 200
    served.advance(TO_START)
    server = client.server(together["flavor_id"], group=together["server_group_id"])
    assert (server["status"], server["OS-EXT-SRV-ATTR:host"]) == ("ACTIVE", "compute-1")
    served.advance(TO_END)
    assert client.call("GET", f"/compute/v2.1/servers/{server['id']}").status == 404
    assert client.call("GET", f"/compute/v2.1/flavors/{together['id']}", user="admin").status == 404
    assert client.aggregates() == {"freepool": ["compute-1"]}
    assert client.lease(ONE_HOST, start_date="2023-11-15 04:00", end_date="2023-11-15 05:00")


def test_a_reservation_of_a_flavor_has_room_for_its_servers_only(client: Client, served: ServedCloud) -> None:
    client.host("compute-1")
    rest = {"amount": 2, "affinity": None, "resource_properties": ""}
    body = {"resource_type": "flavor:instance", "flavor_id": "1", **rest}
    assert client.create({**body, "flavor_id": "unknown"}).status == 400
    lease = client.lease(body)
    [reservation] = lease["reservations"]
    assert (reservation["vcpus"], reservation["memory_mb"], reservation["disk_gb"]) == (1, 512, 1)
    assert client.call("PUT", f"/leases/{lease['id']}", {"end_date": "2023-11-15 03:00"}).status == 200
    served.advance(TO_START)
    servers = [client.server(reservation["flavor_id"]) for _ in range(3)]
    assert [one["status"] for one in servers] == ["ACTIVE", "ACTIVE", "ERROR"]
    assert "No valid host" in servers[-1]["fault"]["message"]
    served.advance(TO_END + HOUR)
    assert client.call("GET", "/compute/v2.1/servers?status=ACTIVE").json["servers"] == []
    assert client.aggregates() == {"freepool": ["compute-1"]}


def test_administrators_use_networks_of_other_projects(client: Client, served: ServedCloud) -> None:
    network = client.call("GET", "/network/v2.0/networks?name=private").json["networks"][0]
    image = client.call("GET", "/image/v2/images?name=cirros").json["images"][0]["id"]
    body: dict[str, Any] = {"name": "s", "flavorRef": "1", "imageRef": image, "networks": [{"uuid": network["id"]}]}
    made = client.call("POST", "/compute/v2.1/servers", {"server": body}, "admin")
    assert made.status == 202, made.content
    served.advance(5)
    shown = client.call("GET", f"/compute/v2.1/servers/{made.json['server']['id']}", user="admin").json["server"]
    assert (shown["status"], shown["addresses"].keys()) == ("ACTIVE", {"private"})


def test_a_snapshot_is_taken_before_the_end(client: Client, served: ServedCloud) -> None:
    client.host("compute-1")
    lease = client.lease({**ONE_HOST, "before_end": "snapshot"}, before_end_date="2023-11-15 00:00")
    served.advance(TO_START)
    client.server(reservation=lease["reservations"][0]["id"])
    served.advance(HOUR)
    names = [image["name"] for image in client.call("GET", "/image/v2/images").json["images"]]
    assert "snapshot_s" in names


def test_floating_ips_belong_to_the_project_during_the_lease(client: Client, served: ServedCloud) -> None:
    [network] = client.call("GET", "/network/v2.0/networks?name=public", user="admin").json["networks"]
    [subnet] = client.call("GET", "/network/v2.0/subnets?name=public-subnet", user="admin").json["subnets"]
    address = {"floating_network_id": network["id"], "floating_ip_address": "172.24.4.250"}
    assert client.call("POST", "/floatingips", address, "admin").status == 400
    pools = {"subnet": {"allocation_pools": [{"start": "172.24.4.2", "end": "172.24.4.200"}]}}
    assert client.call("PUT", f"/network/v2.0/subnets/{subnet['id']}", pools, "admin").status == 200
    made = client.call("POST", "/floatingips", address, "admin").json["floatingip"]
    assert (made["subnet_id"], made["reservable"]) == (subnet["id"], True)
    assert client.call("POST", "/floatingips", {**address, "floating_ip_address": "10.9.9.9"}, "admin").status == 404
    assert client.call("POST", "/floatingips", address, "admin").status == 409
    assert client.call("GET", "/floatingips").status == 200
    body = {"resource_type": "virtual:floatingip", "network_id": network["id"], "amount": 1}
    assert client.create({**body, "required_floatingips": ["172.24.4.251"]}).status == 400
    lease = client.lease({**body, "required_floatingips": ["172.24.4.250"]})
    assert client.create(body).json["error_message"] == "Not enough floating IPs available"
    assert client.call("DELETE", f"/floatingips/{made['id']}", user="admin").status == 409
    served.advance(TO_START)
    [floating] = client.call("GET", "/network/v2.0/floatingips").json["floatingips"]
    assert floating["floating_ip_address"] == "172.24.4.250"
    assert floating["tags"] == ["blazar", f"reservation:{lease['reservations'][0]['id']}"]
    served.advance(TO_END)
    assert client.call("GET", "/network/v2.0/floatingips").json["floatingips"] == []
    assert client.call("DELETE", f"/floatingips/{made['id']}", user="admin").status == 204


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"name": None}, 400),
        ({"name": "x" * 81}, 400),
        ({"start_date": "2023-11-14 22:12"}, 400),
        ({"start_date": "tomorrow"}, 400),
        ({"end_date": "2023-11-14 23:00"}, 400),
        ({"before_end_date": "2023-11-15 02:01"}, 403),
        ({"events": [{"event_type": "e"}]}, 400),
        ({"reservations": "none"}, 400),
        ({"reservations": [{}]}, 400),
        ({"reservations": [{**ONE_HOST, "resource_type": "virtual:volume"}]}, 400),
        ({"reservations": [{**ONE_HOST, "min": 2}]}, 400),
        ({"reservations": [{**ONE_HOST, "max": None}]}, 400),
        ({"reservations": [{**ONE_HOST, "before_end": "x"}]}, 400),
        ({"reservations": [{**ONE_HOST, "resource_properties": "["}]}, 400),
        ({"reservations": [{**ONE_HOST, "resource_properties": '["or", ["==", "$a", "1"]]'}]}, 400),
        ({"reservations": [{**ONE_HOST, "resource_properties": '["==", "$unknown", "1"]'}]}, 404),
        ({"reservations": [{**ONE_SERVER, "affinity": "x"}]}, 400),
        ({"reservations": [{**ONE_SERVER, "vcpus": 0}]}, 400),
        ({"reservations": [{"resource_type": "virtual:floatingip", "network_id": "n", "amount": 1}]}, 400),
    ],
)
def test_invalid_leases_are_refused_without_side_effects(client: Client, fields: dict[str, Any], status: int) -> None:
    client.host("compute-1")
    answer = client.create(ONE_HOST, **fields)
    assert (answer.status, answer.json["error_code"]) == (status, status), answer.content
    assert client.call("GET", "/leases").json == {"leases": []}
    assert client.aggregates() == {"freepool": ["compute-1"]}


def test_invalid_dates_and_capabilities_are_explained(client: Client) -> None:
    def message(path: str, user: str = "demo", **body: Any) -> str:
        answer = client.call("POST", path, body, user)
        assert answer.status == 400, answer.content
        return str(answer.json["error_message"])

    assert message("/leases", name="l", start_date="x", end_date="2050-01-01 00:00").startswith("x is an invalid date")
    wrong = {"start_date": "2050-01-01 00:00", "end_date": "2049-01-01 00:00"}
    assert message("/leases", name="l", **wrong) == "End date must be later than start date."
    assert message("/leases", name="l", start_date="now") == "Missing parameter end_date"
    key = "k" * 65
    assert message("/os-hosts", "admin", name="compute-1", **{key: "v"}).startswith("Extra capability key too long")
    empty = client.call("POST", "/leases", {"name": "l", **PERIOD})
    assert (empty.status, empty.json["lease"]["reservations"]) == (201, [])


REFUSED = "Policy doesn't allow blazar:leases:get to be performed"


def test_leases_belong_to_projects(client: Client) -> None:
    client.host("compute-1")
    body: dict[str, Any] = {"name": "l", **PERIOD, "reservations": [ONE_HOST]}
    key = client.call("POST", "/leases", body, "admin").json["lease"]["id"]
    assert [one["id"] for one in client.call("GET", "/leases", user="admin").json["leases"]] == [key]
    assert client.call("GET", "/leases").json == {"leases": []}
    for method in ("GET", "PUT", "DELETE"):
        answer = client.call(method, f"/leases/{key}", {"name": "mine"})
        assert (answer.status, answer.json["error_message"]) == (403, REFUSED)


def test_a_fault_makes_the_beginning_fail(client: Client, served: ServedCloud) -> None:
    client.host("compute-1")
    rule = {"on": "POST /reservation/v1/leases", "do": "error_state", "message": "no"}
    assert served.call("POST", "/control/faults", rule).status == 201
    lease = client.lease(ONE_HOST, events=[{"event_type": "party", "time": "2023-11-14 23:30"}])
    served.advance(TO_END)
    assert client.state(lease) == (
        "ERROR",
        ["deleted"],
        {"party": "ERROR", "start_lease": "ERROR", "end_lease": "DONE", "before_end_lease": "DONE"},
    )
    assert json.dumps(client.aggregates()) == '{"freepool": ["compute-1"]}'
