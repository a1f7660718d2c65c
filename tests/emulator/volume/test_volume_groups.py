"""Volume groups, what the back end can do and holds, and messages, through HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

Call = Callable[..., Answer]
LATEST = {"OpenStack-API-Version": "volume 3.71"}
HOST = "devstack@lvmdriver-1"


@pytest.fixture
def call(served: ServedCloud) -> Call:
    """A request in the latest microversion, below `/volume/v3`; its clock has moved on afterwards."""

    def do(method: str, path: str, body: Any = None, user: str = "demo", headers: Any = LATEST) -> Answer:
        answer = served.call(method, f"/volume/v3{path}", body, served.token(user, user), headers)
        if method != "GET":
            served.advance(1)
        return answer

    return do


def new_type(call: Call, name: str = "kind", **fields: Any) -> str:
    answer = call("POST", "/types", {"volume_type": {"name": name, **fields}}, user="admin")
    assert answer.status == 200
    assert "qos_specs_id" not in answer.json["volume_type"]
    return str(answer.json["volume_type"]["id"])


def new_volume(call: Call, **fields: Any) -> str:
    answer = call("POST", "/volumes", {"volume": {"size": 1, **fields}})
    assert answer.status == 202, answer.content
    return str(answer.json["volume"]["id"])


def volume(call: Call, key: str, user: str = "demo") -> Any:
    answer = call("GET", f"/volumes/{key}", user=user)
    return answer.json["volume"] if answer.status == 200 else None


@pytest.fixture
def group(call: Call) -> str:
    """A group of volumes of the type `kind`."""
    new_type(call)
    made = call("POST", "/group_types", {"group_type": {"name": "g", "group_specs": {"a": "b"}}}, user="admin")
    assert (made.status, made.json["group_type"]["group_specs"]) == (202, {"a": "b"})
    body = {"name": "g1", "group_type": made.json["group_type"]["id"], "volume_types": ["kind"]}
    answer = call("POST", "/groups", {"group": body})
    assert (answer.status, sorted(answer.json["group"])) == (202, ["id", "name"])
    return str(answer.json["group"]["id"])


def test_group_types_are_for_admins_to_change(call: Call, group: str) -> None:
    assert call("POST", "/group_types", {"group_type": {"name": "x"}}).status == 403
    assert call("POST", "/group_types", {"group_type": {"name": "g"}}, user="admin").status == 409
    [kind] = [k for k in call("GET", "/group_types", user="admin").json["group_types"] if k["name"] == "g"]
    [shown] = [k for k in call("GET", "/group_types").json["group_types"] if k["name"] == "g"]
    assert "group_specs" in kind and "group_specs" not in shown
    specs = f"/group_types/{kind['id']}/group_specs"
    assert call("POST", specs, {"group_specs": {"c": "d"}}, user="admin").status == 202
    assert call("PUT", f"{specs}/c", {"c": "e"}, user="admin").json == {"c": "e"}
    assert call("DELETE", f"{specs}/a", user="admin").status == 202
    assert call("GET", specs, user="admin").json == {"group_specs": {"c": "e"}}
    assert call("GET", f"{specs}/a", user="admin").status == 404
    assert call("DELETE", f"/group_types/{kind['id']}", user="admin").status == 400
    old = {"OpenStack-API-Version": "volume 3.10"}
    assert call("GET", "/group_types", headers=old).status == 404


def test_volumes_are_added_removed_and_deleted_with_group(call: Call, group: str) -> None:
    assert call("POST", "/volumes", {"volume": {"size": 1, "group_id": group}}).status == 400
    key = new_volume(call, group_id=group, volume_type="kind")
    assert volume(call, key)["group_id"] == group
    assert call("DELETE", f"/volumes/{key}").status == 400
    assert call("PUT", f"/groups/{group}", {"group": {"remove_volumes": key, "name": "new"}}).status == 202
    assert volume(call, key)["group_id"] is None
    assert call("PUT", f"/groups/{group}", {"group": {"add_volumes": new_volume(call)}}).status == 400
    assert call("PUT", f"/groups/{group}", {"group": {"add_volumes": key}}).status == 202
    shown = call("GET", f"/groups/{group}?list_volume=true").json["group"]
    assert (shown["name"], shown["status"], shown["volumes"]) == ("new", "available", [key])
    assert call("POST", f"/groups/{group}/action", {"delete": {"delete-volumes": False}}).status == 400
    assert call("POST", f"/groups/{group}/action", {"delete": {"delete-volumes": True}}).status == 202
    assert (call("GET", f"/groups/{group}").status, volume(call, key)) == (404, None)


def test_group_snapshot_and_group_copy(call: Call, group: str) -> None:
    assert call("POST", "/group_snapshots", {"group_snapshot": {"group_id": group}}).status == 400
    for _ in range(2):
        new_volume(call, group_id=group, volume_type="kind")
    made = call("POST", "/group_snapshots", {"group_snapshot": {"group_id": group, "name": "s"}})
    taken = made.json["group_snapshot"]["id"]
    assert call("GET", f"/group_snapshots/{taken}").json["group_snapshot"]["status"] == "available"
    snapshots = call("GET", "/snapshots/detail").json["snapshots"]
    assert [s["group_snapshot_id"] for s in snapshots] == [taken, taken]
    assert call("DELETE", f"/snapshots/{snapshots[0]['id']}").status == 400
    for source in ({"group_snapshot_id": taken}, {"source_group_id": group}):
        copy = call("POST", "/groups/action", {"create-from-src": source}).json["group"]["id"]
        assert len(call("GET", f"/groups/{copy}?list_volume=1").json["group"]["volumes"]) == 2
    assert call("POST", "/groups/action", {"create-from-src": {}}).status == 400
    assert call("POST", f"/groups/{group}/action", {"delete": {"delete-volumes": True}}).status == 400
    assert call("DELETE", f"/group_snapshots/{taken}").status == 202
    assert call("GET", "/snapshots/detail").json["snapshots"] == []


def test_the_status_of_a_group_is_reset_by_admins(call: Call, group: str) -> None:
    body = {"reset_status": {"status": "error"}}
    assert call("POST", f"/groups/{group}/action", body).status == 403
    assert call("POST", f"/groups/{group}/action", body, user="admin").status == 202
    assert call("GET", f"/groups/{group}").json["group"]["status"] == "error"


@pytest.mark.parametrize(
    ("specs", "status"),
    [
        ({"volume_backend_name": "lvmdriver-1", "multiattach": "<is> True"}, "available"),
        ({"capabilities:total_capacity_gb": ">= 100", "vendor_name": "<in> Source"}, "available"),
        ({"storage_protocol": "<or> FC <or> iSCSI", "other:scope": "x"}, "available"),
        ({"volume_backend_name": "another"}, "error"),
        ({"unheard_of": "x"}, "error"),
        ({"total_capacity_gb": ">= 1e9"}, "error"),
    ],
)
def test_the_back_end_must_have_the_capabilities_of_the_type(call: Call, specs: dict[str, str], status: str) -> None:
    key = new_volume(call, volume_type=new_type(call, extra_specs=specs))
    assert volume(call, key)["status"] == status
    reported = call("GET", "/messages").json["messages"]
    assert [message["resource_uuid"] for message in reported] == ([key] if status == "error" else [])


def test_user_message_names_request_and_belongs_to_project(call: Call) -> None:
    answer = call("POST", "/volumes", {"volume": {"size": 1, "volume_type": new_type(call, extra_specs={"x": "y"})}})
    [message] = call("GET", f"/messages?resource_uuid={answer.json['volume']['id']}").json["messages"]
    assert message["request_id"] == answer.headers["x-openstack-request-id"]
    assert (message["message_level"], message["event_id"]) == ("ERROR", "VOLUME_VOLUME_001_003")
    assert call("GET", "/messages", user="admin").json["messages"] == []
    assert call("DELETE", f"/messages/{message['id']}").status == 204
    assert call("GET", f"/messages/{message['id']}").status == 404


def test_a_frozen_host_gets_no_volumes(call: Call) -> None:
    def service(change: str) -> int:
        return call("PUT", f"/os-services/{change}", {"host": HOST}, user="admin").status

    assert call("PUT", "/os-services/freeze", {"host": "x"}, user="admin").status == 400
    assert [service("freeze"), service("freeze")] == [200, 400]
    assert volume(call, new_volume(call))["status"] == "error"
    assert service("thaw") == 200
    assert volume(call, new_volume(call))["status"] == "available"


def test_hosts_and_capabilities_are_shown_to_admins(call: Call) -> None:
    new_volume(call)
    assert call("GET", "/os-hosts").status == 403
    assert HOST in [row["host_name"] for row in call("GET", "/os-hosts", user="admin").json["hosts"]]
    total = call("GET", f"/os-hosts/{HOST}", user="admin").json["host"][0]["resource"]
    assert (total["project"], total["volume_count"], total["total_volume_gb"]) == ("(total)", "1", "1")
    shown = call("GET", f"/capabilities/{HOST}", user="admin").json
    assert (shown["volume_backend_name"], shown["storage_protocol"]) == ("lvmdriver-1", "iSCSI")
    for path in ("os-hosts", "capabilities"):
        assert call("GET", f"/{path}/elsewhere", user="admin").status == 404


def test_unmanaged_volume_is_managed_again(call: Call) -> None:
    key = new_volume(call, name="v")
    snapshot = call("POST", "/snapshots", {"snapshot": {"volume_id": key}}).json["snapshot"]["id"]
    assert call("POST", f"/snapshots/{snapshot}/action", {"os-unmanage": {}}).status == 403
    assert call("POST", f"/volumes/{key}/action", {"os-unmanage": {}}, user="admin").status == 400
    for path in (f"/snapshots/{snapshot}", f"/volumes/{key}"):
        assert call("POST", f"{path}/action", {"os-unmanage": {}}, user="admin").status == 202
        assert call("GET", path).status == 404
    listed = call("GET", f"/manageable_volumes?host={HOST}", user="admin").json["manageable-volumes"]
    assert listed == [{"reference": {"source-name": f"volume-{key}"}, "size": 1, "safe_to_manage": True}]
    body = {"host": HOST, "ref": {"source-name": f"volume-{key}"}, "name": "again"}
    managed = call("POST", "/manageable_volumes", {"volume": body}, user="admin")
    assert managed.status == 202
    shown = volume(call, managed.json["volume"]["id"], "admin")
    assert (shown["name"], shown["size"], shown["status"]) == ("again", 1, "available")
    request_body = {"volume_id": shown["id"], "ref": {"source-name": f"_snapshot-{snapshot}"}, "name": "s"}
    taken = call("POST", "/manageable_snapshots", {"snapshot": request_body}, user="admin").json["snapshot"]["id"]
    assert call("GET", f"/snapshots/{taken}", user="admin").json["snapshot"]["status"] == "available"
    lost = call("POST", "/os-volume-manage", {"volume": body}, user="admin").json["volume"]["id"]
    assert volume(call, lost, "admin")["status"] == "error_managing"
    assert call("POST", "/os-volume-manage", {"volume": {**body, "host": "x"}}, user="admin").status == 400


def test_restored_volume_has_the_properties_of_the_original(call: Call) -> None:
    key = new_volume(call, name="v", metadata={"a": "b"})
    backup = call("POST", "/backups", {"backup": {"volume_id": key}}).json["backup"]["id"]
    restored = call("POST", f"/backups/{backup}/restore", {"restore": {"name": "r"}}).json["restore"]["volume_id"]
    metadata = {"a": "b", "src_backup_id": backup}
    assert (volume(call, restored)["metadata"], volume(call, restored)["name"]) == (metadata, "r")
    unnamed = call("POST", f"/backups/{backup}/restore", {"restore": {}}).json["restore"]["volume_id"]
    assert volume(call, unnamed)["name"] == "v"


def test_empty_id_and_marker_are_unknown(call: Call) -> None:
    for method, body in (("GET", None), ("DELETE", None), ("PUT", {"volume": {"name": "x"}})):
        assert call(method, "/volumes/", body).status == 404
    assert call("POST", "/snapshots", {"snapshot": {"volume_id": None}}).status == 404
    assert call("GET", "/volumes?marker=x").status == 404
    assert call("GET", "/volumes?sort_key=unheard_of").status == 400
    first, second = new_volume(call, name="b"), new_volume(call, name="a")
    page = call("GET", "/volumes?limit=2&sort_key=display_name&sort_dir=asc").json
    assert [row["id"] for row in page["volumes"]] == [second, first]
    assert page["volumes_links"][0]["rel"] == "next"


def test_the_progress_of_a_snapshot_is_reported_while_it_is_made(served: ServedCloud, call: Call) -> None:
    body = {"snapshot": {"volume_id": new_volume(call)}}
    key = served.call("POST", "/volume/v3/snapshots", body, served.token("demo", "demo"), LATEST).json["snapshot"]["id"]
    path = f"/volume/v3/snapshots/{key}"
    reported = {"os-update_snapshot_status": {"status": "error", "progress": "80%"}}
    assert served.call("POST", f"{path}/action", reported, served.token("demo", "demo"), LATEST).status == 202
    shown = call("GET", f"/snapshots/{key}").json["snapshot"]
    assert (shown["status"], shown["os-extended-snapshot-attributes:progress"]) == ("error", "80%")
    reported["os-update_snapshot_status"]["status"] = "available"
    assert call("POST", f"/snapshots/{key}/action", reported).status == 400


@pytest.fixture
def attached(served: ServedCloud, call: Call) -> tuple[str, str]:
    """A server and a volume that it has."""
    token = served.token("demo", "demo")
    images = served.call("GET", "/image/v2/images?name=cirros", None, token).json["images"]
    body = {"name": "s", "flavorRef": "42", "imageRef": images[0]["id"]}
    server = served.call("POST", "/compute/v2.1/servers", {"server": body}, token).json["server"]["id"]
    served.advance(5)
    key = new_volume(call)
    path = f"/compute/v2.1/servers/{server}/os-volume_attachments"
    attach = {"volumeAttachment": {"volumeId": key}}
    assert served.call("POST", path, attach, served.token("demo", "demo")).status == 200
    served.advance(5)
    return str(server), key


def test_server_is_notified_of_extended_volume(served: ServedCloud, call: Call, attached: tuple[str, str]) -> None:
    server, key = attached
    assert call("POST", f"/volumes/{key}/action", {"os-extend": {"new_size": 2}}).status == 202
    served.advance(1)
    assert (volume(call, key)["status"], volume(call, key)["size"]) == ("in-use", 2)
    path = f"/compute/v2.1/servers/{server}/os-instance-actions"
    actions = served.call("GET", path, None, served.token("demo", "demo")).json["instanceActions"]
    assert actions[0]["action"] == "extend_volume"


def test_only_services_force_detach_volumes(served: ServedCloud, call: Call, attached: tuple[str, str]) -> None:
    key = attached[1]
    [attachment] = volume(call, key)["attachments"]
    path = f"/volumes/{key}/action"
    actions: list[dict[str, Any]] = [{"os-detach": {}}, {"os-terminate_connection": {"connector": {}}}]
    for body in actions:
        assert call("POST", path, body).status == 409
        faked = {**LATEST, "X-Service-Token": served.token("demo", "demo")}
        assert call("POST", path, body, headers=faked).status == 409
    forced = {"os-force_detach": {"attachment_id": attachment["attachment_id"]}}
    assert call("POST", path, forced, user="admin").status == 409
    assert call("DELETE", f"/attachments/{attachment['attachment_id']}").status == 409
    vouched = {**LATEST, "X-Service-Token": served.token("heat", "service")}
    assert call("POST", path, {"os-detach": {}}, headers=vouched).status == 202
    assert volume(call, key)["status"] == "available"


def test_the_image_of_a_server_on_a_volume_makes_servers_and_volumes_of_its_snapshot(
    served: ServedCloud, call: Call
) -> None:
    def ask(method: str, path: str, body: Any = None) -> Any:
        answer = served.call(method, path, body, served.token("demo", "demo"))
        assert answer.status < 300, answer.content
        served.advance(5)
        return answer.json

    images = ask("GET", "/image/v2/images?name=cirros")["images"]
    root = new_volume(call, imageRef=images[0]["id"])
    device = {"boot_index": 0, "source_type": "volume", "destination_type": "volume", "uuid": root}
    request_body: dict[str, Any] = {"name": "s", "flavorRef": "42"}
    on_volume = {**request_body, "block_device_mapping_v2": [device]}
    server = ask("POST", "/compute/v2.1/servers", {"server": on_volume})["server"]["id"]
    action = f"/compute/v2.1/servers/{server}/action"
    token = served.token("demo", "demo")
    assert served.call("POST", action, {"createImage": {"name": "i"}}, token).status == 202
    served.advance(5)
    [image] = ask("GET", "/image/v2/images?name=i")["images"]
    [snapshot] = call("GET", f"/snapshots?volume_id={root}").json["snapshots"]
    second = ask("POST", "/compute/v2.1/servers", {"server": {**request_body, "imageRef": image["id"]}})["server"]["id"]
    shown = ask("GET", f"/compute/v2.1/servers/{second}")["server"]
    [attached_volume] = shown["os-extended-volumes:volumes_attached"]
    assert (shown["status"], shown["image"]) == ("ACTIVE", "")
    for key in (attached_volume["id"], new_volume(call, imageRef=image["id"])):
        assert (volume(call, key)["snapshot_id"], volume(call, key)["bootable"]) == (snapshot["id"], "true")
