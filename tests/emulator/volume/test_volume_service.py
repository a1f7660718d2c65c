"""Block storage through HTTP: volumes, snapshots, backups, types, attachments, transfers and quotas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

Call = Callable[..., Answer]
LATEST = {"OpenStack-API-Version": "volume 3.71"}


@pytest.fixture
def call(served: ServedCloud) -> Call:
    """A request of the user `demo` in the latest microversion, below `/volume/v3`."""

    def do(method: str, path: str, body: Any = None, user: str = "demo", headers: Any = LATEST) -> Answer:
        return served.call(method, f"/volume/v3{path}", body, served.token(user, user), headers)

    return do


def new_volume(call: Call, served: ServedCloud, **fields: Any) -> dict[str, Any]:
    answer = call("POST", "/volumes", {"volume": {"size": 1, **fields}})
    assert answer.status == 202, answer.content
    served.advance(1)
    volume: dict[str, Any] = call("GET", f"/volumes/{answer.json['volume']['id']}").json["volume"]
    return volume


def status(call: Call, kind: str, key: str) -> str:
    answer = call("GET", f"/{kind}s/{key}")
    return "gone" if answer.status == 404 else str(answer.json[kind]["status"])


def test_versions_need_no_token_and_name_the_microversions(served: ServedCloud) -> None:
    root, v3 = served.call("GET", "/volume/"), served.call("GET", "/volume/v3/")
    assert (root.status, v3.status) == (300, 200)
    for answer in (root, v3):
        [version] = answer.json["versions"]
        assert (version["id"], version["min_version"], version["version"]) == ("v3.0", "3.0", "3.71")


def test_paths_with_and_without_project_serve_the_same(served: ServedCloud, call: Call) -> None:
    volume = new_volume(call, served)
    project = volume["os-vol-tenant-attr:tenant_id"]
    assert call("GET", f"/{project}/volumes/{volume['id']}").json["volume"]["id"] == volume["id"]


def test_a_volume_is_created_extended_and_deleted_on_the_clock(served: ServedCloud, call: Call) -> None:
    made = call("POST", "/volumes", {"volume": {"size": "2", "name": "v", "metadata": {"a": "b"}}}).json["volume"]
    assert (made["status"], made["size"], made["volume_type"]) == ("creating", 2, "lvmdriver-1")
    served.advance(1)
    key = made["id"]
    assert status(call, "volume", key) == "available"
    assert call("POST", f"/volumes/{key}/action", {"os-extend": {"new_size": 3}}).status == 202
    assert status(call, "volume", key) == "extending"
    served.advance(1)
    shown = call("GET", f"/volumes/{key}").json["volume"]
    assert (shown["status"], shown["size"], shown["metadata"]) == ("available", 3, {"a": "b"})
    shrunk = call("POST", f"/volumes/{key}/action", {"os-extend": {"new_size": 2}})
    assert (shrunk.status, list(shrunk.json)) == (400, ["badRequest"])
    assert call("DELETE", f"/volumes/{key}").status == 202
    assert status(call, "volume", key) == "deleting"
    served.advance(1)
    assert status(call, "volume", key) == "gone"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"size": 0}, 400),
        ({"size": "much"}, 400),
        ({}, 400),
        ({"size": 1, "volume_type": "no such"}, 404),
        ({"size": 1, "availability_zone": "mars"}, 400),
        ({"size": 1, "snapshot_id": "11111111-1111-1111-1111-111111111111"}, 404),
        ({"size": 1, "colour": "red"}, 400),
        ({"size": 1, "name": "x" * 256}, 400),
        ({"size": 1001}, 413),
    ],
)
def test_invalid_volume_is_refused(call: Call, body: dict[str, Any], code: int) -> None:
    assert call("POST", "/volumes", {"volume": body}).status == code
    assert call("GET", "/volumes").json["volumes"] == []


def test_volumes_of_other_projects_are_not_found(served: ServedCloud, call: Call) -> None:
    key = call("POST", "/volumes", {"volume": {"size": 1}}, user="admin").json["volume"]["id"]
    refused = call("GET", f"/volumes/{key}")
    assert (refused.status, refused.json["itemNotFound"]["code"]) == (404, 404)
    assert call("GET", "/volumes?all_tenants=1").json["volumes"] == []
    everything = call("GET", "/volumes/detail?all_tenants=1", user="admin").json["volumes"]
    assert [row["id"] for row in everything] == [key]


def test_quota_counts_volumes_and_gigabytes(served: ServedCloud, call: Call) -> None:
    project = new_volume(call, served)["os-vol-tenant-attr:tenant_id"]
    limits = {"quota_set": {"volumes": 2, "gigabytes": 3}}
    assert call("PUT", f"/os-quota-sets/{project}", limits, user="admin").status == 200
    big = call("POST", "/volumes", {"volume": {"size": 3}})
    assert (big.status, big.json["overLimit"]["retryAfter"]) == (413, "0")
    new_volume(call, served)
    assert "VolumeLimitExceeded" in call("POST", "/volumes", {"volume": {"size": 1}}).json["overLimit"]["message"]
    usage = call("GET", f"/os-quota-sets/{project}?usage=true").json["quota_set"]
    assert usage["volumes"] == {"limit": 2, "in_use": 2, "reserved": 0}
    assert call("DELETE", f"/os-quota-sets/{project}", user="admin").status == 200
    assert call("GET", "/limits").json["limits"]["absolute"]["maxTotalVolumes"] == 10


def test_snapshot_prevents_volume_deletion_and_creates_volume(served: ServedCloud, call: Call) -> None:
    volume = new_volume(call, served, size=2)
    answer = call("POST", "/snapshots", {"snapshot": {"volume_id": volume["id"], "name": "s"}})
    assert answer.status == 202
    snapshot = answer.json["snapshot"]["id"]
    served.advance(1)
    assert status(call, "snapshot", snapshot) == "available"
    assert call("DELETE", f"/volumes/{volume['id']}").status == 400
    assert call("POST", "/volumes", {"volume": {"size": 1, "snapshot_id": snapshot}}).status == 400
    assert new_volume(call, served, size=None, snapshot_id=snapshot)["size"] == 2
    assert call("DELETE", f"/volumes/{volume['id']}?cascade=true").status == 202
    served.advance(1)
    assert status(call, "snapshot", snapshot) == "gone"


def test_a_backup_is_restored_into_a_new_volume(served: ServedCloud, call: Call) -> None:
    volume = new_volume(call, served, size=2)
    incremental = {"backup": {"volume_id": volume["id"], "incremental": True}}
    assert call("POST", "/backups", incremental).status == 400
    backup = call("POST", "/backups", {"backup": {"volume_id": volume["id"], "name": "b"}}).json["backup"]["id"]
    assert status(call, "volume", volume["id"]) == "backing-up"
    served.advance(1)
    assert (status(call, "volume", volume["id"]), status(call, "backup", backup)) == ("available", "available")
    child = call("POST", "/backups", incremental).json["backup"]["id"]
    served.advance(1)
    assert call("DELETE", f"/backups/{backup}").status == 400
    restored = call("POST", f"/backups/{backup}/restore", {"restore": {"volume_id": None, "name": None}}).json[
        "restore"
    ]
    assert status(call, "volume", restored["volume_id"]) == "restoring-backup"
    served.advance(1)
    assert status(call, "volume", restored["volume_id"]) == "available"
    for key in (child, backup):
        assert call("DELETE", f"/backups/{key}").status == 202
        served.advance(1)
    assert call("GET", "/backups/detail").json["backups"] == []


def test_a_backup_is_exported_and_imported(served: ServedCloud, call: Call) -> None:
    volume = call("POST", "/volumes", {"volume": {"size": 1}}, user="admin").json["volume"]["id"]
    served.advance(1)
    backup = call("POST", "/backups", {"backup": {"volume_id": volume}}, user="admin").json["backup"]["id"]
    served.advance(1)
    record = call("GET", f"/backups/{backup}/export_record", user="admin").json
    assert call("POST", "/backups/import_record", record, user="admin").status == 400
    call("DELETE", f"/backups/{backup}", user="admin")
    served.advance(1)
    assert call("POST", "/backups/import_record", record, user="admin").json["backup"]["id"] == backup
    served.advance(1)
    assert call("GET", f"/backups/{backup}", user="admin").json["backup"]["status"] == "available"


def test_an_attachment_leads_the_volume_through_its_states(served: ServedCloud, call: Call) -> None:
    key = new_volume(call, served)["id"]
    instance = "22222222-2222-2222-2222-222222222222"
    body = {"attachment": {"volume_uuid": key, "instance_uuid": instance}}
    attachment = call("POST", "/attachments", body).json["attachment"]
    assert (attachment["status"], status(call, "volume", key)) == ("reserved", "reserved")
    assert call("POST", "/attachments", body).status == 400
    connector = {"attachment": {"connector": {"host": "h", "mountpoint": "/dev/vdb"}}}
    connected = call("PUT", f"/attachments/{attachment['id']}", connector).json["attachment"]
    assert connected["connection_info"]["driver_volume_type"] == "iscsi"
    assert call("POST", f"/attachments/{attachment['id']}/action", {"os-complete": {}}).status == 204
    shown = call("GET", f"/volumes/{key}").json["volume"]
    assert shown["status"] == "in-use"
    [entry] = shown["attachments"]
    assert (entry["id"], entry["server_id"], entry["device"]) == (key, instance, "/dev/vdb")
    assert call("DELETE", f"/volumes/{key}").status == 400
    assert call("DELETE", f"/attachments/{attachment['id']}").json == {"attachments": []}
    assert status(call, "volume", key) == "available"


def test_legacy_attach_actions(served: ServedCloud, call: Call) -> None:
    key = new_volume(call, served)["id"]

    def act(name: str, arguments: Any = None) -> int:
        answer = call("POST", f"/volumes/{key}/action", {name: arguments or {}})
        served.advance(1)
        return answer.status

    assert act("os-reserve") == 202
    assert act("os-reserve") == 400
    assert act("os-attach", {"host_name": "h", "mountpoint": "/dev/vdc"}) == 202
    assert status(call, "volume", key) == "in-use"
    assert act("os-begin_detaching") == 202
    assert act("os-roll_detaching") == 202
    assert status(call, "volume", key) == "in-use"
    assert act("os-detach") == 202
    assert status(call, "volume", key) == "available"


def test_flags_of_a_volume(served: ServedCloud, call: Call) -> None:
    key = new_volume(call, served)["id"]
    assert call("POST", f"/volumes/{key}/action", {"os-update_readonly_flag": {"readonly": True}}).status == 202
    assert call("POST", f"/volumes/{key}/action", {"os-set_bootable": {"bootable": True}}).status == 200
    assert call("POST", f"/volumes/{key}/action", {"os-reset_status": {"status": "error"}}).status == 403
    assert call("POST", f"/volumes/{key}/action", {"os-reset_status": {"status": "error"}}, user="admin").status == 202
    shown = call("GET", f"/volumes/{key}").json["volume"]
    assert (shown["metadata"], shown["bootable"], shown["status"]) == ({"readonly": "True"}, "true", "error")
    assert call("POST", f"/volumes/{key}/action", {"os-fly": None}).status == 400


def test_a_type_with_access_encryption_and_qos(served: ServedCloud, call: Call) -> None:
    body = {"volume_type": {"name": "t", "os-volume-type-access:is_public": False}}
    assert call("POST", "/types", body).status == 403
    kind = call("POST", "/types", body, user="admin").json["volume_type"]["id"]
    assert call("POST", "/types", body, user="admin").status == 409
    assert call("POST", "/volumes", {"volume": {"size": 1, "volume_type": "t"}}).status == 404
    project = new_volume(call, served)["os-vol-tenant-attr:tenant_id"]
    grant = {"addProjectAccess": {"project": project}}
    assert call("POST", f"/types/{kind}/action", grant, user="admin").status == 202
    encryption = {"encryption": {"provider": "luks", "cipher": None, "key_size": 256, "control_location": "front-end"}}
    assert call("POST", f"/types/{kind}/encryption", encryption, user="admin").status == 200
    volume = new_volume(call, served, volume_type="t")
    assert (volume["volume_type"], volume["encrypted"]) == ("t", True)
    assert call("DELETE", f"/types/{kind}/encryption/provider", user="admin").status == 400
    assert call("DELETE", f"/types/{kind}", user="admin").status == 400
    qos = call("POST", "/qos-specs", {"qos_specs": {"name": "q", "total_iops_sec": "5"}}, user="admin").json[
        "qos_specs"
    ]
    assert call("GET", f"/qos-specs/{qos['id']}/associate?vol_type_id={kind}", user="admin").status == 202
    assert call("DELETE", f"/qos-specs/{qos['id']}", user="admin").status == 400
    assert call("GET", f"/qos-specs/{qos['id']}/disassociate_all", user="admin").status == 202
    assert call("DELETE", f"/qos-specs/{qos['id']}?force=False", user="admin").status == 202


def test_a_volume_is_retyped_by_name(served: ServedCloud, call: Call) -> None:
    key = new_volume(call, served)["id"]
    body = {"os-retype": {"new_type": "__DEFAULT__", "migration_policy": "never"}}
    assert call("POST", f"/volumes/{key}/action", body).status == 202
    assert status(call, "volume", key) == "retyping"
    served.advance(1)
    assert call("GET", f"/volumes/{key}").json["volume"]["volume_type"] == "__DEFAULT__"
    assert call("POST", f"/volumes/{key}/action", body).status == 400


def test_a_volume_goes_to_another_project(served: ServedCloud, call: Call) -> None:
    key = new_volume(call, served)["id"]
    offer = call("POST", "/volume-transfers", {"transfer": {"volume_id": key, "name": "gift"}}).json["transfer"]
    assert status(call, "volume", key) == "awaiting-transfer"
    path = f"/os-volume-transfer/{offer['id']}/accept"
    assert call("POST", path, {"accept": {"auth_key": "guess"}}, user="admin").status == 400
    assert call("POST", path, {"accept": {"auth_key": offer["auth_key"]}}, user="admin").status == 202
    assert status(call, "volume", key) == "gone"
    assert call("GET", f"/volumes/{key}", user="admin").json["volume"]["status"] == "available"


def test_volume_has_metadata_of_its_image(served: ServedCloud, call: Call) -> None:
    images = served.call("GET", "/image/v2/images", token=served.token("demo", "demo")).json["images"]
    image = images[0]
    volume = new_volume(call, served, size=10, imageRef=image["id"])
    assert (volume["bootable"], volume["volume_image_metadata"]["image_id"]) == ("true", image["id"])
    body = {"os-volume_upload_image": {"image_name": "back", "disk_format": "raw", "container_format": "bare"}}
    uploaded = call("POST", f"/volumes/{volume['id']}/action", body).json["os-volume_upload_image"]
    assert uploaded["status"] == "uploading"
    served.advance(1)
    shown = served.call("GET", f"/image/v2/images/{uploaded['image_id']}", token=served.token("demo", "demo"))
    assert (shown.json["status"], status(call, "volume", volume["id"])) == ("active", "available")


def test_a_volume_with_an_injected_fault_is_in_error(served: ServedCloud, call: Call) -> None:
    rule = {"on": "POST /volume/v3/volumes", "times": 1, "do": "error_state", "message": "no space"}
    assert served.call("POST", "/control/faults", rule).status in (200, 201)
    assert new_volume(call, served)["status"] == "error"


def test_fields_by_microversion(served: ServedCloud, call: Call) -> None:
    key = new_volume(call, served)["id"]
    old = call("GET", f"/volumes/{key}", headers={}).json["volume"]
    assert "volume_type_id" not in old
    assert "volume_type_id" in call("GET", f"/volumes/{key}").json["volume"]
    assert call("GET", "/attachments", headers={}).status == 404
    assert call("GET", "/volumes", headers={"OpenStack-API-Version": "volume 3.72"}).status == 406


def test_extensions_required_by_orchestration_are_listed(call: Call) -> None:
    aliases = {row["alias"] for row in call("GET", "/extensions").json["extensions"]}
    assert {"encryption", "qos-specs", "os-types-manage", "os-quota-sets"} <= aliases


def test_filters_of_lists(call: Call, served: ServedCloud) -> None:
    new_volume(call, served, name="data-1")
    new_volume(call, served, name="logs", size=2)

    def names(query: str, user: str = "demo", version: str = "3.71") -> list[str]:
        more = "&all_tenants=1" if user == "admin" else ""
        headers = {"OpenStack-API-Version": f"volume {version}"}
        listed = call("GET", f"/volumes?{query}{more}", user=user, headers=headers).json["volumes"]
        return [volume["name"] for volume in listed]

    assert names("migration_status=migrating") == [] and len(names("migration_status=None")) == 2
    for query in ("size=2", "name~=data"):
        refused = call("GET", f"/volumes?{query}")
        assert (refused.status, "Invalid filters" in refused.json["badRequest"]["message"]) == (400, True)
        assert len(names(query, version="3.30")) == 2
    assert names("size=2", "admin") == ["logs"] and names("name~=data", "admin") == []
