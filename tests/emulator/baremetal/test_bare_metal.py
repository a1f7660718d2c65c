"""Nodes and their states, ports, port groups, chassis and allocations, over HTTP and through openstacksdk."""

from __future__ import annotations

import json
from typing import Any

import openstack
import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import Answer, ServedCloud

ADDRESS = "52:54:00:00:00:01"
SWITCH = {"switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Ethernet1/7"}


class Ironic:
    """A user of the bare-metal service in a project, with a microversion."""

    def __init__(self, served: ServedCloud, user: str = "admin", version: str = "1.75") -> None:
        self.served, self.user, self.version = served, user, version

    def call(self, method: str, path: str, body: Any = None, version: str | None = None) -> Answer:
        headers = {"X-OpenStack-Ironic-API-Version": version or self.version}
        return self.served.call(method, f"/baremetal/v1{path}", body, self.token(), headers)

    def token(self) -> str:
        return self.served.token(self.user, self.user)

    def do(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The body of an answer with this status; the time that a state takes has passed then."""
        answer = self.call(method, path, body)
        assert answer.status == status, answer.content
        self.served.advance(6)
        return answer.json if answer.content else None

    def refused(self, method: str, path: str, body: Any, status: int, words: str, version: str | None = None) -> None:
        answer = self.call(method, path, body, version)
        assert answer.status == status, answer.content
        fault = json.loads(answer.json["error_message"])
        assert (fault["faultcode"], fault["debuginfo"]) == ("Client", None)
        assert words in fault["faultstring"]

    def node(self, name: str = "n1", **fields: Any) -> str:
        body = {"driver": "fake-hardware", "name": name, **fields}
        return str(self.do("POST", "/nodes", body, 201)["uuid"])

    def provision(self, name: str, target: str, **more: Any) -> None:
        self.do("PUT", f"/nodes/{name}/states/provision", {"target": target, **more}, 202)

    def states(self, name: str) -> tuple[Any, ...]:
        shown = self.do("GET", f"/nodes/{name}/states")
        return (shown["provision_state"], shown["target_provision_state"], shown["power_state"])


class SystemAdministrator(Ironic):
    """An administrator with a token of the whole system."""

    def token(self) -> str:
        given = {"name": self.user, "domain": {"id": "default"}, "password": self.served.password_of(self.user)}
        identity = {"methods": ["password"], "password": {"user": given}}
        auth = {"identity": identity, "scope": {"system": {"all": True}}}
        return self.served.call("POST", "/identity/v3/auth/tokens", {"auth": auth}).headers["x-subject-token"]


@pytest.fixture
def system(served: ServedCloud) -> SystemAdministrator:
    return SystemAdministrator(served)


@pytest.fixture
def ironic(served: ServedCloud) -> Ironic:
    return Ironic(served)


def test_versions(served: ServedCloud, ironic: Ironic) -> None:
    for path, status in (("/baremetal/", 200), ("/baremetal/v1/", 406)):
        found = served.call("GET", path, headers={"X-OpenStack-Ironic-API-Version": "1.99"})
        assert (found.status, found.headers["x-openstack-ironic-api-maximum-version"]) == (status, "1.75")
    first = ironic.call("GET", "/", None, "1.48")
    assert first.headers["x-openstack-ironic-api-version"] == "1.48"
    assert {"nodes", "volume"} < first.json.keys() and "conductors" not in first.json
    refused = ironic.call("GET", "/nodes", None, "1.76")
    assert refused.status == 406
    assert "range is: [1.1, 1.75]" in json.loads(refused.json["error_message"])["description"]
    assert refused.headers["x-openstack-ironic-api-minimum-version"] == "1.1"
    assert ironic.call("GET", "/nodes", None, "latest").headers["x-openstack-ironic-api-version"] == "1.75"
    old = ironic.call("GET", "/nodes/node-0", None, "1.4").json
    assert "name" not in old and "traits" not in old and "chassis_uuid" in old
    for path, version in (("/portgroups", "1.22"), ("/allocations", "1.51")):
        assert ironic.call("GET", path, None, version).status == 404
    for method, path, body, version, status in (
        ("GET", "/nodes/node-0/traits", None, "1.36", 406),
        ("PUT", "/nodes/node-0/traits", {"traits": []}, "1.36", 405),
        ("PUT", "/nodes/node-0/traits/CUSTOM_A", None, "1.36", 405),
        ("DELETE", "/nodes/node-0/traits", None, "1.36", 404),
        ("GET", "/ports?portgroup=x", None, "1.23", 406),
        ("PUT", "/nodes/node-0/states/raid", {}, "1.11", 406),
        ("PUT", "/nodes/node-0/states/raid", {}, "1.12", 204),
        ("PUT", "/nodes/node-0/states/target_raid_config", {}, "1.75", 405),
        ("GET", "/nodes/node-0/states/target_raid_config", None, "1.75", 404),
    ):
        assert ironic.call(method, path, body, version).status == status, path
    for version, state in (("1.1", None), ("1.2", "available")):
        for path in ("/nodes/node-0", "/nodes/node-0/states"):
            assert ironic.call("GET", path, None, version).json["provision_state"] == state
    ironic.refused("POST", "/nodes", {"driver": "ipmi", "owner": "x"}, 406, "API version", "1.49")
    ironic.refused("GET", "/nodes?fields=owner", None, 406, "owner", "1.49")


def test_provisioning(served: ServedCloud, ironic: Ironic) -> None:
    key = ironic.node(properties={"cpus": "2"})
    path = f"/nodes/{key}"
    assert ironic.states("n1") == ("enroll", None, None)
    ironic.refused("PUT", f"{path}/states/provision", {"target": "provide"}, 400, 'while it is in state "enroll"')
    ironic.refused("PUT", f"{path}/states/provision", {"target": "dance"}, 400, "can not be performed")
    ironic.refused("PUT", f"{path}/states/power", {"target": "on"}, 400, "can not be performed")
    assert ironic.call("PUT", f"{path}/states/provision", {"target": "manage"}).status == 202
    during = ironic.call("GET", path).json
    assert (during["provision_state"], during["target_provision_state"]) == ("verifying", "manageable")
    patch = [{"op": "replace", "path": "/extra/a", "value": 1}]
    ironic.refused("PATCH", path, patch, 409, f"Node {key} is locked by host conductor-1")
    ironic.refused("POST", "/ports", {"node_uuid": key, "address": ADDRESS}, 409, "is locked")
    served.advance(6)
    assert ironic.states("n1") == ("manageable", None, None)
    ironic.provision("n1", "inspect")
    shown = ironic.do("GET", path)
    assert (shown["properties"]["cpus"], shown["properties"]["cpu_arch"]) == ("2", "x86_64")
    assert shown["inspection_finished_at"] > shown["inspection_started_at"]
    ironic.refused("PUT", f"{path}/states/provision", {"target": "clean"}, 400, "clean_steps is required")
    ironic.provision("n1", "clean", clean_steps=[])
    assert ironic.states("n1")[0] == "manageable"
    ironic.provision("n1", "provide")
    ironic.provision("n1", "active", configdrive="x")
    assert ironic.states("n1") == ("active", None, "power on")
    ironic.refused("DELETE", path, None, 409, 'provision state "active"')
    ironic.refused("PUT", f"{path}/states/provision", {"target": "rescue"}, 400, "rescue_password")
    ironic.provision("n1", "rescue", rescue_password="x")
    assert ironic.states("n1")[0] == "rescue"
    ironic.provision("n1", "unrescue")
    ironic.do("PUT", f"{path}/states/power", {"target": "soft power off"}, 202)
    assert ironic.states("n1") == ("active", None, "power off")
    ironic.do("PATCH", path, [{"op": "replace", "path": "/protected", "value": True}])
    ironic.refused("PUT", f"{path}/states/provision", {"target": "deleted"}, 403, "is protected")
    ironic.do("PATCH", path, [{"op": "remove", "path": "/protected"}])
    ironic.provision("n1", "deleted")
    assert ironic.states("n1") == ("cleaning", "available", "power off")
    assert ironic.states("n1")[0] == "available"
    ironic.do("DELETE", path, None, 204)
    ironic.refused("GET", path, None, 404, f"Node {key} could not be found")


def test_failed_steps(served: ServedCloud, ironic: Ironic) -> None:
    ironic.node()
    for action, state in (("manage", "enroll"), ("provide", "clean failed"), ("active", "deploy failed")):
        served.do(lambda: served.cloud.faults.add(Fault(on="PUT /baremetal/*", do="error_state", message="no power")))
        ironic.provision("n1", action)
        served.do(lambda: served.cloud.faults.clear())
        shown = ironic.do("GET", "/nodes/n1")
        assert (shown["provision_state"], shown["last_error"], shown["reservation"]) == (state, "no power", None)
        if action == "manage":
            ironic.provision("n1", "manage")
        elif action == "provide":
            assert (shown["maintenance"], shown["fault"]) == (True, "clean failure")
            ironic.do("DELETE", "/nodes/n1/maintenance", None, 202)
            ironic.provision("n1", "manage")
            ironic.provision("n1", "provide")
    ironic.do("PUT", "/nodes/n1/maintenance", {"reason": "broken"}, 202)
    ironic.refused("PUT", "/nodes/n1/states/provision", {"target": "active"}, 400, "maintenance mode")
    ironic.do("DELETE", "/nodes/n1", None, 204)


def test_nodes_are_listed_and_changed(ironic: Ironic) -> None:
    for name, kind in (("n1", "gold"), ("n2", "iron"), ("n3", "gold")):
        ironic.node(name, resource_class=kind, driver="ipmi")
    first = ironic.do("GET", "/nodes?limit=2&sort_key=name")
    assert [one["name"] for one in first["nodes"]] == ["n1", "n2"]
    assert set(first["nodes"][0]) == {
        "uuid", "name", "instance_uuid", "power_state", "provision_state", "maintenance", "links",
    }  # fmt: skip
    following = ironic.do("GET", first["next"].partition("/v1")[2])
    assert [one["name"] for one in following["nodes"]] == ["n3", "node-0"]
    assert [one["name"] for one in ironic.do("GET", "/nodes?resource_class=gold&driver=ipmi")["nodes"]] == ["n1", "n3"]
    assert len(ironic.do("GET", "/nodes/detail?provision_state=enroll")["nodes"][0]) > 50
    assert set(ironic.do("GET", "/nodes?fields=name&fields=driver")["nodes"][0]) == {"name", "driver", "links"}
    for query, words in (
        ("fields=nope", 'Field nope is not a valid field'), ("sort_key=nope", 'sort_key value "nope"'),
        ("colour=red", "Unexpected arguments: colour"), ("limit=x", "Expected an integer for limit"),
    ):  # fmt: skip
        ironic.refused("GET", f"/nodes?{query}", None, 400, words)
    ironic.refused("GET", "/nodes?marker=nope", None, 404, "Node nope could not be found")
    ironic.refused("POST", "/nodes", {"driver": "ipmi", "name": "n1"}, 409, "name n1 already exists")
    taken = {"driver": "ipmi", "uuid": ironic.do("GET", "/nodes/n1")["uuid"]}
    ironic.refused("POST", "/nodes", taken, 409, "already exists")
    for path, more in (("/nodes", {"driver": "ipmi"}), ("/chassis", {}), ("/allocations", {"resource_class": "gold"})):
        ironic.refused("POST", path, dict[str, object](uuid=5, **more), 400, "Expected UUID for uuid: 5")
    for body, words in (
        ({}, "'driver' is a required property"), ({"driver": "punch-card"}, "supports driver punch-card"),
        ({"driver": "ipmi", "nope": 1}, "'nope' was unexpected"), ({"driver": "ipmi", "name": "a b"}, "valid name"),
        ({"driver": "ipmi", "power_state": "on"}, "unexpected"), ({"driver": "ipmi", "extra": []}, "'object'"),
    ):  # fmt: skip
        ironic.refused("POST", "/nodes", body, 400, words)
    changed = ironic.do(
        "PATCH",
        "/nodes/n1",
        [
            {"op": "add", "path": "/extra/list", "value": [1, 3]},
            {"op": "add", "path": "/extra/list/1", "value": 2},
            {"op": "replace", "path": "/extra/list/2", "value": 4},
            {"op": "remove", "path": "/extra/list/0"},
        ],
    )
    assert changed["extra"] == {"list": [2, 4]}
    for operation, words in (
        ({"op": "move", "path": "/extra"}, "'move' is not one of ['add', 'replace', 'remove']"),
        ({"op": "replace", "path": "/extra/nope/deep", "value": 1}, "Couldn't apply patch"),
        ({"op": "remove", "path": "/extra/nope"}, "can't remove a non-existent object 'nope'"),
        ({"op": "add", "path": "/extra/list/9", "value": 1}, "can't add a non-existent object '9'"),
        ({"op": "add", "path": "/nope", "value": 1}, "Cannot patch /nope. Only the following"),
        ({"op": "replace", "path": "/uuid", "value": "x"}, "Cannot patch /uuid. Only the following"),
        ({"op": "remove", "path": "/driver"}, "'driver' is a required property"),
        ({"op": "replace", "path": "/name", "value": "n 1"}, "valid name"),
        ({"op": "replace", "path": "/extra"}, "A value is required"),
        ({"op": "replace", "path": "extra", "value": {}}, "is invalid"),
    ):
        ironic.refused("PATCH", "/nodes/n1", [operation], 400, words)
    assert ironic.do("GET", "/nodes/n1")["extra"] == {"list": [2, 4]}


def test_interfaces_must_be_those_of_the_driver(ironic: Ironic) -> None:
    ironic.refused(
        "POST", "/nodes", {"driver": "ipmi", "power_interface": "nothing"}, 400,
        "'ironic.hardware.interfaces.power' entrypoint: nothing. Valid interfaces are ['fake', 'ipmitool', 'redfish'].",
    )  # fmt: skip
    wrong = "power interface implementation 'redfish' is not supported by hardware type ipmi."
    ironic.refused("POST", "/nodes", {"driver": "ipmi", "power_interface": "redfish"}, 400, wrong)
    ironic.node("n1", driver="ipmi", boot_interface="pxe", network_interface="neutron")
    boot = [{"op": "replace", "path": "/boot_interface", "value": "fake"}]
    ironic.refused("PATCH", "/nodes/n1", boot, 400, "'fake' is not supported by hardware type ipmi.")
    driver = [{"op": "replace", "path": "/driver", "value": "redfish"}]
    ironic.refused("PATCH", "/nodes/n1", driver, 400, "is not supported by hardware type redfish.")
    ironic.refused("PATCH", "/nodes/n1?reset_interfaces=true", boot, 400, "when changing the node's driver")
    ironic.refused("PATCH", "/nodes/n1?reset_interfaces=true", driver, 406, "reset_interfaces", "1.44")
    network = [{"op": "replace", "path": "/network_interface", "value": "flat"}]
    changed = ironic.do("PATCH", "/nodes/n1?reset_interfaces=true", [*driver, *network])
    assert (changed["boot_interface"], changed["power_interface"]) == ("redfish-virtual-media", "redfish")
    assert changed["network_interface"] == "flat"
    removed = ironic.do("PATCH", "/nodes/n1", [{"op": "remove", "path": "/network_interface"}])
    assert removed["network_interface"] == "noop"


def test_nodes_without_owner_require_system_scope(ironic: Ironic, system: SystemAdministrator) -> None:
    step = {"interface": "bios", "step": "apply_configuration", "args": {}, "priority": 150}
    body = {"name": "CUSTOM_T", "steps": [step]}
    key = system.do("POST", "/deploy_templates", body, 201)["uuid"]
    for method, path, sent in (
        ("GET", "/drivers", None), ("GET", "/drivers/ipmi", None), ("GET", "/drivers/ipmi/properties", None),
        ("GET", "/conductors", None), ("GET", "/conductors/nothing", None), ("GET", "/deploy_templates", None),
        ("POST", "/deploy_templates", body), ("GET", f"/deploy_templates/{key}", None),
        ("PATCH", f"/deploy_templates/{key}", []), ("DELETE", f"/deploy_templates/{key}", None),
    ):  # fmt: skip
        ironic.refused(method, path, sent, 403, "Access was denied to the following resource: baremetal:")
    ironic.refused("POST", "/deploy_templates", {**body, "steps": []}, 400, "should be non-empty")
    assert len(ironic.do("GET", "/nodes?conductor=conductor-1")["nodes"]) == 2
    assert ironic.do("GET", "/nodes?conductor=other")["nodes"] == []
    ironic.refused("GET", "/nodes?conductor=other", None, 406, "The filter conductor", "1.48")
    for method in ("GET", "PATCH", "DELETE"):
        ironic.refused(method, f"/ports/{ADDRESS}", [], 400, "Expected a logical name or UUID")
        ironic.refused(method, "/ports/word", [{"op": "add", "path": "/extra/a", "value": 1}], 404, "Port word")
    for path in ("/ports", "/portgroups"):
        sent = {"node_uuid": "nope", "address": ADDRESS}
        ironic.refused("POST", path, sent, 403, "Access was denied to the following resource: baremetal:port")
        system.refused("POST", path, sent, 400, "Node nope could not be found")


def test_traits_boot_devices_and_interfaces(ironic: Ironic, system: SystemAdministrator) -> None:
    ironic.do("PUT", "/nodes/node-0/traits", {"traits": ["CUSTOM_B", "CUSTOM_A"]}, 204)
    ironic.do("PUT", "/nodes/node-0/traits/HW_CPU_X86_VMX", None, 204)
    ironic.do("DELETE", "/nodes/node-0/traits/CUSTOM_B", None, 204)
    ironic.refused("DELETE", "/nodes/node-0/traits/CUSTOM_B", None, 404, "doesn't have a trait")
    ironic.refused("PUT", "/nodes/node-0/traits/wrong-one", None, 400, "Schema error for trait")
    assert ironic.do("GET", "/nodes/node-0/traits") == {"traits": ["CUSTOM_A", "HW_CPU_X86_VMX"]}
    ironic.do("PUT", "/nodes/node-0/management/boot_device", {"boot_device": "disk", "persistent": True}, 204)
    device = ironic.do("GET", "/nodes/node-0/management/boot_device")
    assert device == {"boot_device": "disk", "persistent": True}
    ironic.refused("PUT", "/nodes/node-0/management/boot_device", {"boot_device": "tape"}, 400, "Invalid boot device")
    assert system.do("GET", "/drivers/fake-hardware/properties").keys() == {"B1", "B2"}
    console = ironic.do("GET", "/nodes/node-0/states/console")
    key = ironic.do("GET", "/nodes/node-0")["uuid"]
    assert ironic.do("GET", f"/nodes/states/console/{key}") == console
    found = ironic.do("GET", "/nodes/node-0/validate")
    assert found["power"] == found["rescue"] == {"result": True} and "vendor" not in found
    assert [one["name"] for one in system.do("GET", "/drivers")["drivers"]] == ["fake-hardware", "ipmi", "redfish"]
    assert system.do("GET", "/drivers/ipmi")["default_power_interface"] == "ipmitool"
    system.refused("GET", "/drivers/nope", None, 404, "nope")
    (conductor,) = system.do("GET", "/conductors?detail=true")["conductors"]
    assert (conductor["alive"], conductor["drivers"]) == (True, ["fake-hardware", "ipmi", "redfish"])
    shown = system.do("GET", f"/conductors/{conductor['hostname']}")
    assert shown == {**conductor, "updated_at": shown["updated_at"]}
    assert system.do("GET", "/conductors?fields=alive")["conductors"][0].keys() == {"alive", "links"}
    system.refused("GET", "/conductors?fields=speed", None, 400, "speed")
    system.refused("GET", "/conductors/nope", None, 404, "nope")


def test_ports_and_groups(ironic: Ironic) -> None:
    node = ironic.node()
    group = ironic.do("POST", "/portgroups", {"node_uuid": node, "name": "bond", "address": "52:54:00:00:00:FF"}, 201)
    assert (group["address"], group["mode"]) == ("52:54:00:00:00:ff", "active-backup")
    made = ironic.do(
        "POST", "/ports", {"node_uuid": node, "address": "52:54:00:00:00:AA", "portgroup_uuid": group["uuid"]}, 201
    )
    assert (made["address"], made["pxe_enabled"], made["is_smartnic"]) == ("52:54:00:00:00:aa", True, False)
    path = f"/ports/{made['uuid']}"
    for body, status, words in (
        ({"address": ADDRESS}, 400, "'node_uuid' is a required property"),
        ({"node_uuid": "nope", "address": ADDRESS}, 403, "baremetal:port:create"),
        ({"node_uuid": node, "address": "x"}, 400, "Expected valid MAC address for address: x"),
        ({"node_uuid": node, "address": "52:54:00:00:00:aa"}, 409, "already exists"),
        ({"node_uuid": node, "address": ADDRESS, "portgroup_uuid": "nope"}, 400, "Portgroup nope"),
        ({"node_uuid": node, "address": ADDRESS, "local_link_connection": {"port_id": "x"}}, 400, "missing mandatory"),
        (
            {"node_uuid": node, "address": ADDRESS, "local_link_connection": {**SWITCH, "switch_id": "x"}},
            400,
            "datapath",
        ),
        ({"node_uuid": node, "address": ADDRESS, "is_smartnic": True}, 400, "smart NIC"),
    ):
        ironic.refused("POST", "/ports", body, status, words)
    changed = ironic.do("PATCH", path, [{"op": "replace", "path": "/local_link_connection", "value": SWITCH}])
    assert changed["local_link_connection"] == SWITCH
    for query in (f"node={node}", "node=n1", "address=52:54:00:00:00:AA", "portgroup=bond"):
        assert [one["uuid"] for one in ironic.do("GET", f"/ports?{query}")["ports"]] == [made["uuid"]]
    assert ironic.do("GET", "/ports?node=node-0") == {"ports": []}
    assert len(ironic.do("GET", "/portgroups/bond/ports")["ports"]) == len(ironic.do("GET", "/nodes/n1/ports")["ports"])
    ironic.refused("DELETE", "/portgroups/bond", None, 400, "contains ports")
    ironic.do("PATCH", "/portgroups/bond", [{"op": "replace", "path": "/standalone_ports_supported", "value": False}])
    patch = [{"op": "replace", "path": "/physical_network", "value": "rack1"}]
    ironic.refused("PATCH", path, patch, 409, "doesn't support standalone ports")
    ironic.do("PATCH", path, [*patch, {"op": "replace", "path": "/pxe_enabled", "value": False}])
    ironic.provision("n1", "manage")
    ironic.provision("n1", "provide")
    ironic.refused("PATCH", path, [{"op": "remove", "path": "/portgroup_uuid"}], 409, "connectivity attributes")
    ironic.do("PUT", "/nodes/n1/maintenance", {}, 202)
    ironic.do("PATCH", path, [{"op": "remove", "path": "/portgroup_uuid"}])
    ironic.do("DELETE", "/portgroups/bond", None, 204)
    ironic.do("DELETE", path, None, 204)
    ironic.refused("DELETE", path, None, 404, made["uuid"])


def test_virtual_interfaces(ironic: Ironic) -> None:
    node = ironic.node()
    vifs, second = "/nodes/n1/vifs", "52:54:00:00:00:02"
    group = ironic.do("POST", "/portgroups", {"node_uuid": node}, 201)["uuid"]
    ironic.refused("POST", vifs, {"id": "v"}, 400, "no free port")
    single = ironic.do("POST", "/ports", {"node_uuid": node, "address": ADDRESS, "pxe_enabled": False}, 201)["uuid"]
    member = {"node_uuid": node, "address": second, "portgroup_uuid": group}
    member_uuid = ironic.do("POST", "/ports", member, 201)["uuid"]
    for vif in ("v", "w"):
        ironic.do("POST", vifs, {"id": vif}, 204)
        ironic.refused("POST", vifs, {"id": vif}, 409, "already attached")
    places = (f"/portgroups/{group}", f"/ports/{single}", f"/ports/{member_uuid}")
    held = [ironic.do("GET", path)["internal_info"] for path in places]
    assert held == [{"tenant_vif_port_id": "v"}, {"tenant_vif_port_id": "w"}, {}]
    assert ironic.do("GET", vifs) == {"vifs": [{"id": "v"}, {"id": "w"}]}
    ironic.refused("POST", vifs, {"id": "x"}, 400, "no free port")
    ironic.refused("POST", vifs, [], 400, "string 'id'")
    ironic.refused("DELETE", vifs, None, 400, "vif_ident")
    ironic.do("DELETE", f"{vifs}/v", None, 204)
    ironic.refused("DELETE", f"{vifs}/v", None, 400, "is not attached")
    assert ironic.do("GET", f"/portgroups/{group}")["internal_info"] == {}


def test_power_and_backfilled_allocations(served: ServedCloud, ironic: Ironic) -> None:
    key = ironic.node(resource_class="gold")
    ironic.node("slow", driver="ipmi")
    ironic.do("PUT", "/nodes/n1/states/power", {"target": "power off"}, 202)
    assert ironic.states("n1")[2] == "power off"
    for name, during in (("n1", None), ("slow", "conductor-1")):
        assert ironic.call("PUT", f"/nodes/{name}/states/power", {"target": "power on"}).status == 202
        served.advance(0)
        assert ironic.call("GET", f"/nodes/{name}").json["reservation"] == during, "fake machines switch at once"
    served.advance(6)
    assert ironic.states("slow")[2] == "power on"
    body = {"node": "n1", "name": "mine"}
    ironic.refused("POST", "/allocations", body, 406, "API version", "1.57")
    ironic.refused("POST", "/allocations", {"node": "nope"}, 400, "Node nope could not be found")
    ironic.refused("POST", "/allocations", body, 409, "is not active")
    for action in ("manage", "provide", "active"):
        ironic.provision("n1", action)
    found = ironic.call("POST", "/allocations", body).json
    assert "node" not in found and (found["state"], found["node_uuid"], found["resource_class"]) == (
        "active",
        key,
        "gold",
    )
    assert ironic.do("GET", "/nodes/n1")["instance_uuid"] == found["uuid"]
    ironic.refused("POST", "/allocations", {"node": "n1"}, 409, "has an instance")
    ironic.refused("GET", "/allocations?fields=node", None, 400, "not a valid field")


def test_chassis_and_allocations(ironic: Ironic) -> None:
    chassis = ironic.do("POST", "/chassis", {"description": "rack 7"}, 201)["uuid"]
    key = ironic.node(resource_class="gold", chassis_uuid=chassis)
    assert [one["uuid"] for one in ironic.do("GET", f"/chassis/{chassis}/nodes")["nodes"]] == [key]
    ironic.refused("DELETE", f"/chassis/{chassis}", None, 400, "contains nodes")
    failed = ironic.do("POST", "/allocations", {"resource_class": "gold"}, 201)
    assert failed["state"] == "allocating"
    failed = ironic.do("GET", f"/allocations/{failed['uuid']}")
    assert failed["state"] == "error" and "no available nodes" in failed["last_error"]
    ironic.provision("n1", "manage")
    ironic.provision("n1", "provide")
    ironic.do("PUT", "/nodes/n1/traits", {"traits": ["CUSTOM_A"]}, 204)
    body = {"resource_class": "gold", "name": "mine", "traits": ["CUSTOM_A"], "candidate_nodes": ["n1"]}
    ironic.do("POST", "/allocations", body, 201)
    ironic.refused("POST", "/allocations", body, 409, "already exists")
    ironic.refused("POST", "/allocations", {}, 400, "resource_class")
    found = ironic.do("GET", "/allocations/mine")
    node = ironic.do("GET", "/nodes/n1")
    assert (found["state"], found["node_uuid"]) == ("active", key)
    assert node["allocation_uuid"] == node["instance_uuid"] == ironic.do("GET", "/nodes/n1/allocation")["uuid"]
    ironic.refused("DELETE", "/nodes/n1", None, 409, "is associated with instance")
    ironic.provision("n1", "active")
    ironic.refused("DELETE", "/allocations/mine", None, 409, "in use")
    ironic.do("PUT", "/nodes/n1/maintenance", {}, 202)
    ironic.do("DELETE", "/nodes/n1/allocation", None, 204)
    ironic.do("DELETE", "/nodes/n1", None, 204)
    ironic.do("DELETE", f"/chassis/{chassis}", None, 204)
    assert len(ironic.do("GET", "/allocations?state=error")["allocations"]) == 1


def test_permissions_by_role(served: ServedCloud, ironic: Ironic) -> None:
    demo = Ironic(served, "demo")
    project = served.call("GET", "/identity/v3/auth/projects", None, served.token("demo", "demo")).json["projects"][0][
        "id"
    ]
    assert demo.do("GET", "/nodes") == {"nodes": []}
    demo.refused("GET", "/nodes/node-0", None, 404, "node-0")
    demo.refused("DELETE", "/nodes/node-0", None, 404, "node-0")
    for method, path, body in (
        ("POST", "/nodes", {"driver": "ipmi"}), ("POST", "/ports", {}), ("POST", "/portgroups", {}),
        ("GET", "/drivers", None), ("GET", "/chassis", None), ("POST", "/chassis", {}),
    ):  # fmt: skip
        demo.refused(method, path, body, 403, "Access was denied")
    ironic.do("PATCH", "/nodes/node-0", [{"op": "replace", "path": "/owner", "value": project}])
    ironic.do("PATCH", "/nodes/node-1", [{"op": "replace", "path": "/lessee", "value": project}])
    assert [one["name"] for one in demo.do("GET", "/nodes")["nodes"]] == ["node-0", "node-1"]
    demo.do("PATCH", "/nodes/node-0", [{"op": "add", "path": "/extra/a", "value": 1}])
    demo.refused("PATCH", "/nodes/node-0", [{"op": "remove", "path": "/owner"}], 403, "update_owner")
    demo.refused("PATCH", "/nodes/node-1", [{"op": "add", "path": "/extra/a", "value": 1}], 403, "node:update")
    demo.refused("DELETE", "/nodes/node-0", None, 403, "node:delete")
    mine = demo.do("POST", "/allocations", {"resource_class": "baremetal"}, 201)
    assert mine["owner"] == project
    other = ironic.do("POST", "/allocations", {"resource_class": "baremetal"}, 201)["uuid"]
    demo.refused("GET", f"/allocations/{other}", None, 404, other)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")  # the SDK's own
def test_openstacksdk(served: ServedCloud, ironic: Ironic) -> None:
    connection = openstack.connect(
        auth_url=f"{served.url}/identity", username="admin", password="secret", project_name="admin",
        user_domain_id="default", project_domain_id="default", region_name="RegionOne",
    )  # fmt: skip
    service = connection.baremetal
    node = service.create_node(driver="ipmi", name="sdk")
    assert service.update_node(node, resource_class="gold").resource_class == "gold"
    port = service.create_port(node_id=node.id, address=ADDRESS)
    assert service.update_port(port, extra={"a": "b"}).extra == {"a": "b"}
    assert [one.address for one in service.ports(details=True, node=node.id)] == [ADDRESS]
    service.delete_port(port)
    service.set_node_provision_state(node, "manage")
    served.advance(6)
    assert service.get_node("sdk").provision_state == "manageable"
    assert {one.name for one in service.nodes()} == {"sdk", "node-0", "node-1"}
    service.delete_node("sdk")


def test_volumes_of_nodes(ironic: Ironic) -> None:
    node, other = ironic.node(), ironic.node("n2")
    body = {"node_uuid": node, "type": "iqn", "connector_id": "iqn.2026-11.org.example:n1", "extra": {"a": 1, "b": 2}}
    connector = ironic.do("POST", "/volume/connectors", body, 201)
    ironic.refused("POST", "/volume/connectors", {**body, "node_uuid": other}, 409, "already exists")
    ironic.refused("POST", "/volume/connectors", {**body, "type": "x"}, 400, "type")
    ironic.refused("POST", "/volume/connectors", {**body, "connector_id": "c", "node_uuid": "n1"}, 400, "not be found")
    request_body = {"node_uuid": node, "volume_type": "iscsi", "boot_index": 0, "volume_id": "v"}
    target = ironic.do("POST", "/volume/targets", request_body, 201)
    ironic.refused("POST", "/volume/targets", {**request_body, "volume_id": "w"}, 409, "boot_index 0")
    ironic.do("POST", "/volume/targets", {**request_body, "node_uuid": other}, 201)
    assert [one["uuid"] for one in ironic.do("GET", f"/nodes/{node}/volume/targets")["targets"]] == [target["uuid"]]
    assert len(ironic.do("GET", "/volume/targets?detail=True")["targets"]) == 2
    assert ironic.do("GET", "/nodes/n1/volume")["targets"][0]["href"].endswith(f"/v1/nodes/{node}/volume/targets")
    assert "extra" not in ironic.do("GET", "/volume/connectors")["connectors"][0]
    place, patch = f"/volume/connectors/{connector['uuid']}", [{"op": "remove", "path": "/extra/b"}]
    assert ironic.do("PATCH", place, patch)["extra"] == {"a": 1}
    ironic.provision("n1", "manage")
    ironic.do("PUT", "/nodes/n1/states/power", {"target": "power on"}, 202)
    ironic.refused("PATCH", place, patch, 400, "can't remove a non-existent object")
    on = 'The requested action "volume connector deletion" can not be performed'
    ironic.refused("DELETE", place, None, 400, on)
    ironic.do("PUT", "/nodes/n1/states/power", {"target": "power off"}, 202)
    ironic.do("DELETE", place, None, 204)
    ironic.refused("GET", place, None, 404, "Volume connector")
    assert ironic.call("GET", "/volume/targets", None, "1.31").status == 404
    ironic.do("DELETE", "/nodes/n1", None, 204)
    ironic.refused("GET", f"/volume/targets/{target['uuid']}", None, 404, "Volume target")


def test_deploy_templates_and_conductors(system: SystemAdministrator) -> None:
    ironic = system
    step = {"interface": "bios", "step": "apply_configuration", "args": {}, "priority": 150}
    body = {"name": "CUSTOM_HYPERTHREADING", "steps": [step]}
    made = ironic.do("POST", "/deploy_templates", body, 201)
    ironic.refused("POST", "/deploy_templates", body, 409, "already exists")
    for wrong, words in (
        ({"name": "HYPERTHREADING"}, "does not match"),
        ({"name": None}, "required property"),
        ({"steps": []}, "should be non-empty"),
        ({"steps": [{**step, "interface": "console"}]}, "interface that has steps"),
        ({"steps": [{**step, "priority": -1}]}, "not a priority"),
        ({"steps": [step, {**step, "priority": 1}]}, "Duplicate deploy steps"),
    ):
        ironic.refused("POST", "/deploy_templates", {**body, "name": "CUSTOM_OTHER", **wrong}, 400, words)
    place = f"/deploy_templates/{body['name']}"
    assert ironic.do("GET", "/deploy_templates")["deploy_templates"][0].keys() == {"uuid", "name", "links"}
    changed = ironic.do("PATCH", place, [{"op": "replace", "path": "/name", "value": "CUSTOM_B"}])
    assert (changed["uuid"], changed["name"], changed["steps"]) == (made["uuid"], "CUSTOM_B", [step])
    uuid = f"/deploy_templates/{made['uuid']}"
    ironic.refused("PATCH", uuid, [{"op": "remove", "path": "/steps"}], 400, "required property")
    ironic.refused("GET", place, None, 404, "Deploy template")
    assert ironic.call("GET", uuid, None, "1.54").status == 404
    ironic.refused("POST", "/deploy_templates", body, 405, "does not allow", "1.54")
    ironic.do("DELETE", uuid, None, 204)
    [conductor] = ironic.do("GET", "/conductors")["conductors"]
    assert conductor["alive"] and "drivers" not in conductor
    assert "fake-hardware" in ironic.do("GET", f"/conductors/{conductor['hostname']}")["drivers"]
    ironic.refused("GET", "/conductors/other", None, 404, "Conductor other")
    assert ironic.call("GET", "/conductors", None, "1.48").status == 404


def test_limits_and_filters_of_nodes(ironic: Ironic) -> None:
    node = ironic.node("n1", resource_class="r" * 80)
    ironic.refused("POST", "/nodes", {"driver": "fake-hardware", "resource_class": "r" * 81}, 400, "resource_class")
    ironic.do("PUT", "/nodes/n1/traits", {"traits": [f"CUSTOM_{at}" for at in range(50)]}, 204)
    ironic.refused("PUT", "/nodes/n1/traits/CUSTOM_MORE", None, 400, "50 traits at most")
    ironic.refused("GET", "/nodes?fault=none", None, 400, "Unrecognized fault")
    ironic.refused("GET", "/nodes?resource_class=r", None, 406, "newer API version", "1.20")
    reason = [{"op": "add", "path": "/protected_reason", "value": "mine"}]
    ironic.refused("PATCH", "/nodes/n1", reason, 400, "protected is False")
    protect = [*reason, {"op": "replace", "path": "/protected", "value": True}]
    ironic.refused("PATCH", "/nodes/n1", protect, 409, "active and rescue, and it is in enroll")
    for action in ("manage", "provide", "active"):
        ironic.provision("n1", action)
    ironic.do("PATCH", "/nodes/n1", protect)
    shown = ironic.do("PATCH", "/nodes/n1", [{"op": "replace", "path": "/protected", "value": False}])
    assert (shown["protected"], shown["protected_reason"]) == (False, None)
    ironic.do("POST", "/ports", {"node_uuid": node, "address": ADDRESS}, 201)
    [port] = ironic.do("GET", "/nodes/n1/ports/detail")["ports"]
    assert port["node_uuid"] == node
    found = ironic.served.call("GET", "/baremetal/ports", token=ironic.served.token())
    assert found.json["ports"][0]["uuid"] == port["uuid"], "a path without a version is one of version 1"
    ironic.refused("GET", "/ports/p", None, 404, "Port p could not be found")
    ironic.do("PUT", "/nodes/n1/states/power", {"target": "power on"}, 202)
    answer = ironic.call("PUT", "/nodes/n1/states/power", {"target": "power on"})
    assert answer.status == 202 and ironic.call("GET", "/nodes/n1").json["reservation"] is None, "it is on already"
