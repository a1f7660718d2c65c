"""Volumes and interfaces of servers through HTTP."""

from __future__ import annotations

from typing import Any

NOWHERE = "11111111-1111-1111-1111-111111111111"


def test_a_volume_is_attached_and_detached(nova: Any) -> None:
    key, volume = nova.boot(), nova.volume()
    path = f"/servers/{key}/os-volume_attachments"
    assert nova.call("POST", path, {"volumeAttachment": {"volumeId": NOWHERE}}).status == 404
    attached = nova.call("POST", path, {"volumeAttachment": {"volumeId": volume}}).json["volumeAttachment"]
    assert (attached["id"], attached["device"], attached["delete_on_termination"]) == (volume, "/dev/vdb", False)
    assert nova.volume_status(volume) == "reserved"
    nova.wait()
    assert nova.volume_status(volume) == "in-use"
    [entry] = nova.other("GET", f"/volume/v3/volumes/{volume}").json["volume"]["attachments"]
    assert (entry["server_id"], entry["device"]) == (key, "/dev/vdb")
    assert [row["id"] for row in nova.server(key)["os-extended-volumes:volumes_attached"]] == [volume]
    assert nova.call("POST", path, {"volumeAttachment": {"volumeId": volume}}).status == 400
    assert nova.call("GET", f"{path}/{volume}", version="2.1").json["volumeAttachment"]["id"] == volume
    assert nova.call("DELETE", f"{path}/{volume}").status == 202
    assert nova.volume_status(volume) == "detaching"
    nova.wait()
    assert (nova.call("GET", f"{path}/{volume}").status, nova.volume_status(volume)) == (404, "available")


def test_a_rebuild_and_a_detachment_exclude_each_other(nova: Any) -> None:
    key, volume = nova.boot(), nova.volume()
    path = f"/servers/{key}/os-volume_attachments"
    nova.call("POST", path, {"volumeAttachment": {"volumeId": volume}})
    nova.wait()
    nova.act(key, "rebuild", {"imageRef": nova.image()})
    assert nova.call("DELETE", f"{path}/{volume}").status == 409
    nova.wait()
    assert (nova.status(key), nova.volume_status(volume)) == ("ACTIVE", "in-use")
    assert nova.call("DELETE", f"{path}/{volume}").status == 202
    refused = nova.act(key, "rebuild", {"imageRef": nova.image()})
    assert refused.status == 400 and "Currently in 'detaching' status" in str(refused.json)


def test_volumes_are_detached_or_deleted_with_server(nova: Any) -> None:
    key, kept, doomed = nova.boot(), nova.volume(), nova.volume()
    path = f"/servers/{key}/os-volume_attachments"
    for volume, ends in ((kept, False), (doomed, True)):
        nova.call("POST", path, {"volumeAttachment": {"volumeId": volume, "delete_on_termination": ends}})
    nova.wait()
    nova.call("DELETE", f"/servers/{key}")
    nova.wait()
    assert (nova.volume_status(kept), nova.volume_status(doomed)) == ("available", "gone")


def test_a_server_boots_from_a_new_volume_of_an_image(nova: Any) -> None:
    device = {
        "uuid": nova.image(),
        "source_type": "image",
        "destination_type": "volume",
        "boot_index": 0,
        "volume_size": 2,
        "delete_on_termination": True,
    }
    key = nova.boot(imageRef="", block_device_mapping_v2=[device])
    server = nova.server(key)
    assert (server["status"], server["image"]) == ("ACTIVE", "")
    [volume] = server["os-extended-volumes:volumes_attached"]
    shown = nova.other("GET", f"/volume/v3/volumes/{volume['id']}").json["volume"]
    assert (shown["status"], shown["size"], shown["bootable"]) == ("in-use", 2, "true")
    assert nova.call("DELETE", f"/servers/{key}/os-volume_attachments/{volume['id']}").status == 400
    nova.call("DELETE", f"/servers/{key}")
    nova.wait()
    assert nova.volume_status(volume["id"]) == "gone"


def test_boot_volume_is_reserved(nova: Any) -> None:
    volume = nova.volume(imageRef=nova.image())
    device = {"uuid": volume, "source_type": "volume", "destination_type": "volume", "boot_index": 0}
    blank = {**device, "uuid": nova.volume()}
    refused = {"name": "s", "flavorRef": "1", "networks": "none", "block_device_mapping_v2": [blank]}
    assert nova.call("POST", "/servers", {"server": refused}).status == 400
    key = nova.boot(imageRef="", block_device_mapping_v2=[device])
    assert nova.volume_status(volume) == "in-use"
    again = {"name": "t", "flavorRef": "1", "networks": "none", "block_device_mapping_v2": [device]}
    refused = nova.call("POST", "/servers", {"server": again})
    assert (refused.status, "must be 'available'" in refused.json["badRequest"]["message"]) == (400, True)
    twice = {**device, "uuid": nova.volume()}
    again = {**again, "block_device_mapping_v2": [twice, {**twice, "boot_index": 1}]}
    assert nova.call("POST", "/servers", {"server": again}).status == 400
    assert nova.volume_status(twice["uuid"]) == "available"
    nova.call("DELETE", f"/servers/{key}")
    nova.wait()
    assert nova.volume_status(volume) == "available"


def test_server_fails_with_its_volume(nova: Any) -> None:
    device = {
        "uuid": nova.image(),
        "source_type": "image",
        "destination_type": "volume",
        "boot_index": 0,
        "volume_size": 2000,
    }
    server = nova.server(nova.boot(imageRef="", block_device_mapping_v2=[device]))
    assert (server["status"], "VolumeSizeExceedsAvailableQuota" in server["fault"]["message"]) == ("ERROR", True)


def test_interfaces_are_attached_and_detached(nova: Any) -> None:
    key = nova.boot()
    path = f"/servers/{key}/os-interface"
    made = nova.call("POST", path, {"interfaceAttachment": {"net_id": nova.network()}}).json["interfaceAttachment"]
    assert made["fixed_ips"][0]["ip_address"].startswith("10.0.0.")
    assert len(nova.server(key)["addresses"]["private"]) == 2
    port = nova.other("POST", "/network/v2.0/ports", {"port": {"network_id": nova.network()}}).json["port"]["id"]
    assert nova.call("POST", path, {"interfaceAttachment": {"port_id": port}}).status == 200
    nova.wait()
    assert nova.call("GET", f"{path}/{port}").json["interfaceAttachment"]["port_state"] == "ACTIVE"
    assert nova.call("POST", path, {"interfaceAttachment": {"port_id": port}}).status == 409
    for gone, answer in ((made["port_id"], 404), (port, 200)):
        assert nova.call("DELETE", f"{path}/{gone}").status == 202
        nova.wait()
        assert nova.other("GET", f"/network/v2.0/ports/{gone}").status == answer
    assert nova.call("DELETE", f"{path}/{port}").status == 404
    assert len(nova.call("GET", path).json["interfaceAttachments"]) == 1


def test_security_groups_of_a_server_are_those_of_its_ports(nova: Any) -> None:
    body = {"security_group": {"name": "walls"}}
    nova.other("POST", "/network/v2.0/security-groups", body)
    key = nova.boot()
    assert nova.server(key)["security_groups"] == [{"name": "default"}]
    assert nova.act(key, "addSecurityGroup", {"name": "walls"}).status == 202
    groups = nova.call("GET", f"/servers/{key}/os-security-groups").json["security_groups"]
    assert {row["name"] for row in groups} == {"default", "walls"}
    assert nova.act(key, "removeSecurityGroup", {"name": "default"}).status == 202
    assert nova.server(key)["security_groups"] == [{"name": "walls"}]
    assert nova.act(key, "removeSecurityGroup", {"name": "default"}).status == 404
    assert nova.act(key, "addSecurityGroup", {"name": "no such"}).status == 404
