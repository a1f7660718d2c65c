"""Servers through HTTP: built, changed, found, refused and deleted."""

from __future__ import annotations

import base64
from typing import Any

import pytest

NOWHERE = "11111111-1111-1111-1111-111111111111"


def test_server_becomes_active_after_build_time(nova: Any) -> None:
    body = {"name": "s", "flavorRef": "1", "imageRef": nova.image(), "networks": [{"uuid": nova.network()}]}
    answer = nova.call("POST", "/servers", {"server": body})
    assert set(answer.json["server"]) == {"id", "links", "OS-DCF:diskConfig", "security_groups", "adminPass"}
    key = answer.json["server"]["id"]
    building = nova.server(key)
    assert (building["status"], building["OS-EXT-STS:task_state"], building["addresses"]) == ("BUILD", "scheduling", {})
    nova.wait()
    built = nova.server(key)
    assert (built["status"], built["OS-EXT-STS:vm_state"], built["OS-EXT-STS:power_state"]) == ("ACTIVE", "active", 1)
    [address] = built["addresses"]["private"]
    assert (address["OS-EXT-IPS:type"], address["version"]) == ("fixed", 4)
    assert built["flavor"]["original_name"] == "m1.tiny"
    assert "OS-EXT-SRV-ATTR:host" not in built
    assert nova.server(key, user="admin")["OS-EXT-SRV-ATTR:host"].startswith("compute-")


def test_created_port_is_deleted_with_server_and_given_port_is_kept(nova: Any) -> None:
    port = nova.other("POST", "/network/v2.0/ports", {"port": {"network_id": nova.network()}}).json["port"]["id"]
    key = nova.boot(networks=[{"port": port}, {"uuid": nova.network()}])
    interfaces = nova.call("GET", f"/servers/{key}/os-interface").json["interfaceAttachments"]
    assert len(interfaces) == 2
    again = {"name": "t", "flavorRef": "1", "imageRef": nova.image(), "networks": [{"port": port}]}
    assert nova.call("POST", "/servers", {"server": again}).status == 409
    assert nova.call("DELETE", f"/servers/{key}").status == 204
    assert nova.server(key)["OS-EXT-STS:task_state"] == "deleting"
    nova.wait()
    assert nova.status(key) == "gone"
    left = {row["port_id"]: nova.other("GET", f"/network/v2.0/ports/{row['port_id']}") for row in interfaces}
    assert left.pop(port).json["port"]["device_id"] == ""
    assert [answer.status for answer in left.values()] == [404]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"flavorRef": "no such"}, 400, "Flavor no such could not be found"),
        ({"imageRef": NOWHERE}, 400, "Can not find requested image"),
        ({"imageRef": ""}, 400, "Missing imageRef"),
        ({"key_name": "mine"}, 400, "Invalid key_name"),
        ({"networks": [{"uuid": NOWHERE}]}, 400, "could not be found"),
        ({"networks": [{"port": NOWHERE}]}, 400, "could not be found"),
        ({"networks": None}, 400, "networks"),
        ({"security_groups": [{"name": "walls"}]}, 400, "walls"),
        ({"availability_zone": "mars"}, 400, "availability zone"),
        ({"availability_zone": "nova:compute-1"}, 403, "forced_host"),
        ({"user_data": "?"}, 400, "base64"),
        ({"user_data": base64.b64encode(b"x" * 65536).decode()}, 400, "too long"),
        ({"personality": []}, 400, "personality"),
        ({"name": ""}, 400, "should be non-empty"),
        ({"max_count": 11}, 403, "Quota exceeded"),
        ({"min_count": 3, "max_count": 2}, 400, "min_count"),
        ({"block_device_mapping_v2": [{"uuid": NOWHERE, "source_type": "volume", "boot_index": 0}]}, 400, "volume"),
        (
            {"block_device_mapping_v2": [{"uuid": NOWHERE, "source_type": "volume", "boot_index": -1}]},
            400,
            "Boot sequence",
        ),
        ({"colour": "red"}, 400, "colour"),
    ],
)
def test_invalid_server_is_refused(nova: Any, change: dict[str, Any], code: int, words: str) -> None:
    body = {"name": "s", "flavorRef": "1", "imageRef": nova.image(), "networks": "none", **change}
    answer = nova.call("POST", "/servers", {"server": body})
    [fault] = answer.json.values()
    assert (answer.status, fault["code"]) == (code, code)
    assert words in fault["message"]
    assert nova.call("GET", "/servers").json["servers"] == []


@pytest.mark.parametrize(
    ("action", "during", "after", "back", "finally_"),
    [
        ("os-stop", "ACTIVE", "SHUTOFF", "os-start", "ACTIVE"),
        ("pause", "ACTIVE", "PAUSED", "unpause", "ACTIVE"),
        ("suspend", "ACTIVE", "SUSPENDED", "resume", "ACTIVE"),
        ("shelve", "ACTIVE", "SHELVED_OFFLOADED", "unshelve", "ACTIVE"),
        ("rescue", "ACTIVE", "RESCUE", "unrescue", "ACTIVE"),
    ],
)
def test_server_action_and_its_reverse(
    nova: Any, action: str, during: str, after: str, back: str, finally_: str
) -> None:
    key = nova.boot()
    assert nova.act(key, back).status == 409
    assert nova.act(key, action).status in (200, 202)
    assert nova.status(key) == during
    assert nova.server(key)["OS-EXT-STS:task_state"] is not None
    busy = nova.act(key, "os-stop")
    assert (busy.status, "task_state" in busy.json["conflictingRequest"]["message"]) == (409, True)
    nova.wait()
    assert nova.status(key) == after
    refused = nova.act(key, action)
    assert "vm_state" in refused.json["conflictingRequest"]["message"]
    assert nova.act(key, back).status == 202
    nova.wait()
    assert nova.status(key) == finally_


def test_state_conflict_has_nova_message(nova: Any) -> None:
    key = nova.boot()
    message = nova.act(key, "os-start").json["conflictingRequest"]["message"]
    assert message == f"Cannot 'start' instance {key} while it is in vm_state active"


def test_reboots(nova: Any) -> None:
    key = nova.boot()
    for kind, status in (("SOFT", "REBOOT"), ("HARD", "HARD_REBOOT")):
        assert nova.act(key, "reboot", {"type": kind}).status == 202
        assert nova.status(key) == status
        nova.wait()
        assert nova.status(key) == "ACTIVE"
    nova.act(key, "os-stop")
    nova.wait()
    assert nova.act(key, "reboot", {"type": "SOFT"}).status == 409
    assert nova.act(key, "reboot", {"type": "HARD"}).status == 202
    nova.wait()
    assert nova.status(key) == "ACTIVE"


@pytest.mark.parametrize(
    ("end", "code", "flavor"), [("confirmResize", 204, "m1.small"), ("revertResize", 202, "m1.tiny")]
)
def test_a_resize_is_verified(nova: Any, end: str, code: int, flavor: str) -> None:
    key = nova.boot()
    assert nova.act(key, "resize", {"flavorRef": "1"}).status == 400
    assert nova.act(key, "resize", {"flavorRef": "5"}).status == 202
    nova.wait()
    nova.act(key, "revertResize")
    nova.wait()
    assert nova.act(key, "resize", {"flavorRef": "2"}).status == 202
    assert nova.status(key) == "RESIZE"
    nova.wait()
    assert (nova.status(key), nova.server(key)["flavor"]["original_name"]) == ("VERIFY_RESIZE", "m1.small")
    assert nova.act(key, end).status == code
    nova.wait()
    assert (nova.status(key), nova.server(key)["flavor"]["original_name"]) == ("ACTIVE", flavor)
    rows = nova.call("GET", f"/os-migrations?instance_uuid={key}", user="admin").json["migrations"]
    assert rows[0]["status"] == {"confirmResize": "confirmed", "revertResize": "reverted"}[end]


def test_a_stopped_server_is_stopped_after_its_resize(nova: Any) -> None:
    key = nova.boot()
    for action, arguments in (("os-stop", None), ("resize", {"flavorRef": "2"}), ("confirmResize", None)):
        nova.act(key, action, arguments)
        nova.wait()
    assert nova.status(key) == "SHUTOFF"


def test_a_rebuild_changes_image_and_data(nova: Any) -> None:
    key = nova.boot(metadata={"a": "b"})
    data = base64.b64encode(b"new").decode()
    body = {"imageRef": nova.image(), "name": "t", "metadata": {"c": "d"}, "user_data": data, "adminPass": "p"}
    answer = nova.act(key, "rebuild", body)
    assert (answer.status, answer.json["server"]["adminPass"], nova.status(key)) == (202, "p", "REBUILD")
    nova.wait()
    server = nova.server(key, user="admin")
    assert (server["status"], server["name"], server["metadata"]) == ("ACTIVE", "t", {"c": "d"})
    assert server["OS-EXT-SRV-ATTR:user_data"] == data


def test_image_is_created_from_server(nova: Any) -> None:
    key = nova.boot()
    answer = nova.act(key, "createImage", {"name": "snap", "metadata": {"k": "v"}})
    image = answer.json["image_id"]
    assert nova.server(key)["OS-EXT-STS:task_state"] == "image_snapshot_pending"
    nova.wait()
    shown = nova.other("GET", f"/image/v2/images/{image}").json
    assert (shown["status"], shown["instance_uuid"], shown["k"]) == ("active", key, "v")
    assert nova.server(key)["OS-EXT-STS:task_state"] is None
    old = nova.call("POST", f"/servers/{key}/action", {"createImage": {"name": "old"}}, version="2.1")
    assert (old.status, old.content, "/images/" in old.headers["location"]) == (202, b"", True)


def test_a_locked_server_refuses_its_owner_but_not_an_admin(nova: Any) -> None:
    key = nova.boot()
    nova.act(key, "lock", {"locked_reason": "mine"})
    assert nova.server(key)["locked_reason"] == "mine"
    assert nova.act(key, "os-stop").json["conflictingRequest"]["message"] == f"Instance {key} is locked"
    assert nova.call("DELETE", f"/servers/{key}").status == 409
    assert nova.act(key, "os-stop", user="admin").status == 202
    nova.act(key, "unlock")
    assert nova.call("DELETE", f"/servers/{key}").status == 204


def test_only_an_administrator_removes_the_lock_of_an_administrator(nova: Any) -> None:
    key = nova.boot()
    nova.act(key, "lock", {"locked_reason": "maintenance"}, user="admin")
    assert nova.act(key, "lock", {"locked_reason": "mine"}).status == 202
    assert nova.server(key)["locked_reason"] == "maintenance"
    refused = nova.act(key, "unlock")
    assert (refused.status, "os-lock-server:unlock:unlock_override" in str(refused.json)) == (403, True)
    assert nova.act(key, "unlock", user="admin").status == 202
    assert nova.server(key)["locked"] is False


def test_metadata_and_tags(nova: Any) -> None:
    key = nova.boot(metadata={"a": "b"})
    assert nova.call("POST", f"/servers/{key}/metadata", {"metadata": {"c": "d"}}).json["metadata"] == {
        "a": "b",
        "c": "d",
    }
    assert nova.call("DELETE", f"/servers/{key}/metadata/a").status == 204
    assert nova.call("DELETE", f"/servers/{key}/metadata/a").status == 404
    assert nova.call("PUT", f"/servers/{key}/metadata", {"metadata": {}}).json["metadata"] == {}
    assert nova.call("PUT", f"/servers/{key}/tags", {"tags": ["x", "y"]}).json["tags"] == ["x", "y"]
    assert nova.call("PUT", f"/servers/{key}/tags/z").status == 201
    assert nova.call("PUT", f"/servers/{key}/tags/z").status == 204
    assert nova.call("PUT", f"/servers/{key}/tags/a%2Cb").status == 400
    assert [row["id"] for row in nova.call("GET", "/servers?tags=x,z").json["servers"]] == [key]
    assert nova.call("GET", "/servers?not-tags=x").json["servers"] == []
    assert nova.call("DELETE", f"/servers/{key}/tags").status == 204
    assert nova.call("GET", f"/servers/{key}/tags", version="2.25").status == 404


def test_lists_are_filtered_and_paged(nova: Any) -> None:
    keys = [nova.boot(name=f"web-{at}") for at in range(3)]
    nova.boot(name="db")
    first = nova.call("GET", "/servers?name=web&limit=2").json
    assert [row["id"] for row in first["servers"]] == [keys[2], keys[1]]
    [link] = first["servers_links"]
    marker = link["href"].partition("marker=")[2]
    assert marker == keys[1]
    rest = nova.call("GET", f"/servers?name=web&limit=2&marker={marker}").json
    assert ([row["id"] for row in rest["servers"]], "servers_links" in rest) == ([keys[0]], False)
    nova.act(keys[0], "os-stop")
    nova.wait()
    assert [row["id"] for row in nova.call("GET", "/servers/detail?status=SHUTOFF").json["servers"]] == [keys[0]]
    assert nova.call("GET", "/servers?all_tenants=1").status == 403
    assert len(nova.call("GET", "/servers?all_tenants=1", user="admin").json["servers"]) == 4
    assert nova.call("GET", "/servers", user="admin").json["servers"] == []


def test_filters_are_regular_expressions_in_linear_time(nova: Any) -> None:
    key = nova.boot(name="a" * 200 + "!")
    for pattern, found in (("^a{200}.$", [key]), ("(a%2B)%2B$", []), ("(a%7Caa)%2B$", []), ("a(", []), ("!$", [key])):
        assert [row["id"] for row in nova.call("GET", f"/servers?name={pattern}").json["servers"]] == found
    nova.wait()
    assert nova.call("GET", "/servers?ip=(%5B0-9.%5D%2B)%2B!$").json["servers"] == []


def test_filters_of_administrators_are_ignored_for_others(nova: Any) -> None:
    key = nova.boot(name="one")
    nova.wait()
    shown = nova.call("GET", f"/servers/{key}", user="admin").json["server"]
    launched = shown["OS-SRV-USG:launched_at"]

    def found(query: str, user: str, version: str = "2.96") -> int:
        place = f"/servers?{query}" + ("&all_tenants=1" if user == "admin" else "")
        return len(nova.call("GET", place, user=user, version=version).json["servers"])

    for right, wrong in (
        ("config_drive=false", "config_drive=true"), (f"launched_at={launched}", "launched_at=2001-01-01T00:00:00"),
        ("progress=0", "progress=55"), ("power_state=1", "power_state=4"), ("vm_state=active", "vm_state=stopped"),
    ):  # fmt: skip
        assert [found(one, "demo") for one in (right, wrong)] == [1, 0], wrong
        assert found(wrong, "demo", "2.82") == 1, wrong
    for right, wrong in (
        (f"uuid={key}", "uuid=other"), ("display_name=one", "display_name=two"), ("launch_index=0", "launch_index=9"),
        ("auto_disk_config=false", "auto_disk_config=true"), ("kernel_id=", "kernel_id=x"),
        ("root_device_name=/dev/vda", "root_device_name=/dev/sda"), ("hostname=one", "hostname=two"),
    ):  # fmt: skip
        assert [found(one, "admin") for one in (right, wrong)] == [1, 0], wrong
        assert found(wrong, "demo") == 1, wrong


def test_instance_actions_are_listed_after_deletion(nova: Any) -> None:
    key = nova.boot()
    nova.act(key, "os-stop")
    nova.wait()
    nova.call("DELETE", f"/servers/{key}")
    nova.wait()
    rows = nova.call("GET", f"/servers/{key}/os-instance-actions").json["instanceActions"]
    assert [row["action"] for row in rows] == ["delete", "stop", "create"]
    shown = nova.call("GET", f"/servers/{key}/os-instance-actions/{rows[1]['request_id']}").json["instanceAction"]
    assert shown["events"][0]["result"] == "Success"
    assert nova.call("GET", f"/servers/{key}/os-instance-actions", version="2.20").status == 404


def test_a_server_with_an_injected_fault_is_in_error_with_its_reason(nova: Any) -> None:
    rule = {"on": "POST /compute/v2.1/servers", "times": 1, "do": "error_state", "message": "out of luck"}
    nova.served.call("POST", "/control/faults", rule)
    server = nova.server(nova.boot())
    assert (server["status"], server["fault"]["message"]) == ("ERROR", "out of luck")


def test_anti_affinity_group_separates_servers(nova: Any) -> None:
    request_body = {"server_group": {"name": "g", "policy": "anti-affinity"}}
    group = nova.call("POST", "/os-server-groups", request_body).json["server_group"]
    body = {"name": "s", "flavorRef": "1", "imageRef": nova.image(), "networks": "none", "max_count": 5}
    hints = {"os:scheduler_hints": {"group": group["id"]}}
    assert nova.call("POST", "/servers", {"server": body, **hints}).status == 202
    nova.wait()
    servers = nova.call("GET", "/servers/detail?all_tenants=1", user="admin").json["servers"]
    assert sorted(row["status"] for row in servers) == ["ACTIVE"] * 4 + ["ERROR"]
    assert len({row["OS-EXT-SRV-ATTR:host"] for row in servers if row["status"] == "ACTIVE"}) == 4
    [failed] = [row for row in servers if row["status"] == "ERROR"]
    assert failed["fault"]["message"].startswith("No valid host was found")
    assert len(nova.call("GET", f"/os-server-groups/{group['id']}").json["server_group"]["members"]) == 5


def test_quota_of_cores_and_ram(nova: Any) -> None:
    project = nova.server(nova.boot())["tenant_id"]
    limits = {"quota_set": {"cores": 2, "ram": 1000}}
    assert nova.call("PUT", f"/os-quota-sets/{project}", limits, user="admin").status == 200
    body = {"name": "s", "flavorRef": "1", "imageRef": nova.image(), "networks": "none"}
    answer = nova.call("POST", "/servers", {"server": body})
    assert answer.json["forbidden"]["message"] == (
        "Quota exceeded for ram: Requested 512, but already used 512 of 1000 ram"
    )
    used = nova.call("GET", f"/os-quota-sets/{project}/detail").json["quota_set"]["cores"]
    assert used == {"limit": 2, "in_use": 1, "reserved": 0}


def test_server_views_by_microversion(nova: Any) -> None:
    key = nova.boot(tags=["x"])
    old = nova.call("GET", f"/servers/{key}", version="2.1").json["server"]
    assert old["flavor"]["id"] == "1"
    assert not {"tags", "locked", "description", "server_groups"} & set(old)
    assert nova.call("GET", "/servers", version="2.101").status == 406


def test_consoles(nova: Any) -> None:
    key = nova.boot()
    assert nova.act(key, "os-getConsoleOutput", {"length": 1}).json["output"] == "s login:"
    vnc = {"remote_console": {"protocol": "vnc", "type": "novnc"}}
    assert nova.call("POST", f"/servers/{key}/remote-consoles", vnc).json["remote_console"]["url"].startswith("http")
    wrong = {"remote_console": {"protocol": "vnc", "type": "serial"}}
    assert nova.call("POST", f"/servers/{key}/remote-consoles", wrong).status == 400
    assert nova.act(key, "os-getVNCConsole", {"type": "novnc"}).status == 400


def test_servers_move_between_hosts(nova: Any) -> None:
    key = nova.boot()
    host = nova.server(key, user="admin")["OS-EXT-SRV-ATTR:host"]
    assert nova.act(key, "os-migrateLive", {"host": None, "block_migration": "auto"}).status == 403
    live = {"host": "compute-4", "block_migration": "auto"}
    assert nova.act(key, "os-migrateLive", live, user="admin").status == 202
    assert nova.status(key) == "MIGRATING"
    nova.wait()
    assert nova.server(key, user="admin")["OS-EXT-SRV-ATTR:host"] == "compute-4" != host


def test_changes_and_rebuilds_answer_by_microversion(nova: Any) -> None:
    key = nova.boot(accessIPv6="::babe:220.12.22.2")
    changed = nova.call("PUT", f"/servers/{key}", {"server": {"name": "n"}}, version="2.1").json["server"]
    [[address]] = changed["addresses"].values()
    assert set(address) == {"version", "addr"}
    assert changed["accessIPv6"] == "::babe:dc0c:1602"
    assert "server_groups" not in nova.call("GET", "/servers/detail").json["servers"][0]
    rebuild = {"rebuild": {"imageRef": nova.image()}}
    rebuilt = nova.call("POST", f"/servers/{key}/action", rebuild, user="admin").json["server"]
    assert "OS-EXT-SRV-ATTR:user_data" not in rebuilt and rebuilt["user_data"] is None
    assert rebuilt["server_groups"] == [] and rebuilt["scheduler_hints"] == {}
    assert rebuilt["image"]["properties"] == {"os_distro": "cirros"}
    full = {"server": {"hostname": "guest.example.org"}}
    assert nova.call("PUT", f"/servers/{key}", full, version="2.93").status == 400
    assert nova.call("PUT", f"/servers/{key}", full, version="2.94").status == 200


def test_unshelved_server_uses_requested_host(nova: Any) -> None:
    key = nova.boot()
    nova.act(key, "shelve")
    nova.wait()
    assert nova.act(key, "unshelve", {"host": "compute-3"}).status == 403
    assert nova.act(key, "unshelve", {"host": "unknown"}, user="admin").status == 400
    assert nova.act(key, "unshelve", {"host": "compute-3"}, user="admin").status == 202
    nova.wait()
    assert nova.server(key, user="admin")["OS-EXT-SRV-ATTR:host"] == "compute-3"


def test_network_is_created_for_project_without_networks(nova: Any) -> None:
    body = {"name": "s", "flavorRef": "1", "imageRef": nova.image(), "networks": "auto"}
    made = nova.call("POST", "/servers", {"server": body}, user="admin")
    nova.wait()
    assert list(nova.server(made.json["server"]["id"], user="admin")["addresses"]) == ["auto_allocated_network"]


def test_same_host_and_different_host_hints(nova: Any) -> None:
    def host(key: str) -> str:
        return str(nova.server(key, user="admin")["OS-EXT-SRV-ATTR:host"])

    def boot(**hints: Any) -> str:
        server = {"name": "s", "flavorRef": "1", "imageRef": nova.image(), "networks": "auto"}
        made = nova.call("POST", "/servers", {"server": server, "os:scheduler_hints": hints})
        assert made.status == 202, made.content
        nova.wait()
        return str(made.json["server"]["id"])

    first = boot()
    assert host(boot(same_host=first)) == host(first)
    second = boot(different_host=[first])
    assert host(second) != host(first)
    assert nova.status(boot(same_host=[first], different_host=first)) == "ERROR"
    assert nova.call("GET", f"/servers/{second}").json["server"]["scheduler_hints"] == {"different_host": [first]}


def test_injected_files_are_base64(nova: Any) -> None:
    server = {"name": "s", "flavorRef": "1", "imageRef": nova.image(), "networks": "auto"}
    for contents, status in (("aGVsbG8=", 202), ("aGVs\nbG8=", 202), ("not encoded!", 400)):
        body = {"server": {**server, "personality": [{"path": "/etc/motd", "contents": contents}]}}
        assert nova.call("POST", "/servers", body, version="2.56").status == status
