"""Containers, their networks, volumes, images, hosts and quotas over HTTP."""

from __future__ import annotations

import base64
import io
import tarfile
from typing import Any

import pytest

from openstack_emulator.container.rules.commands import command_result, execution_of
from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import Answer, ServedCloud

READY = 4.0
"""Seconds after which a new container runs."""


class Zun:
    """A client of the service for containers."""

    def __init__(self, served: ServedCloud, user: str = "demo", version: str = "latest") -> None:
        self.served, self.user, self.version = served, user, version

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        token = self.served.token(self.user, self.user)
        headers = {"OpenStack-API-Version": f"container {self.version}"}
        return self.served.call(method, f"/container/v1{path}", body, token, headers)

    def other(self, method: str, path: str, body: Any = None) -> Any:
        """The answer of another service."""
        return self.served.call(method, path, body, self.served.token(self.user, self.user)).json

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.content
        return answer.json

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.call("POST", path, body)
        assert answer.status in (200, 202), answer.content
        return answer.json if answer.content else None

    def run(self, **fields: Any) -> Any:
        """A new container, once it is ready."""
        made = self.post("/containers?run=true", {"image": "cirros", **fields})
        self.served.advance(READY)
        return self.get(f"/containers/{made['uuid']}")


@pytest.fixture
def zun(served: ServedCloud) -> Zun:
    return Zun(served)


def refused(answer: Answer, status: int, words: str) -> None:
    """An answer is an error, in the service's form."""
    (error,) = answer.json["errors"]
    assert (answer.status, error["status"]) == (status, status), answer.content
    assert words in error["detail"]


def network_of(zun: Zun, name: str) -> str:
    return str(zun.other("GET", f"/network/v2.0/networks?name={name}")["networks"][0]["id"])


def test_versions(served: ServedCloud, zun: Zun) -> None:
    (found,) = served.call("GET", "/container/").json["versions"]
    assert (found["id"], found["min_version"], found["max_version"]) == ("v1", "1.1", "1.40")
    assert served.call("GET", "/container/v1/").json["id"] == "v1"
    assert served.call("GET", "/container/v1/containers").status == 401
    refused(Zun(served, version="1.99").call("GET", "/containers"), 406, "not supported")
    old = Zun(served, version="1.12")
    refused(old.call("POST", "/containers", {"image": "cirros", "command": ["sh"]}), 400, "type 'string'")
    oldest = Zun(served, version="1.1").call("POST", "/containers", {"image": "cirros", "auto_remove": True})
    refused(oldest, 400, "'auto_remove'")
    refused(zun.call("POST", "/containers", {"image": "cirros", "command": "sh"}), 400, "type 'array'")
    made = old.post("/containers", {"image": "cirros", "command": '"echo" "a b"'})
    assert made["command"] == ["echo", "a b"]
    assert zun.get(f"/containers/{made['uuid']}")["command"] == ["echo", "a b"]


def test_container_states(served: ServedCloud, zun: Zun) -> None:
    made = zun.post("/containers", {"image": "cirros", "name": "web", "interactive": True, "tty": True})
    assert (made["status"], made["task_state"], made["tty"]) == ("Creating", "image_pulling", True)
    path = f"/containers/{made['uuid']}"
    refused(zun.call("DELETE", path), 409, "Cannot delete container")
    refused(zun.call("POST", f"{path}/start"), 409, "in Creating state")
    served.advance(2.0)
    assert zun.get(path)["task_state"] == "container_creating"
    served.advance(1.0)
    assert zun.get("/containers/web")["status"] == "Created"
    states = []
    for action in ("start", "pause", "unpause", "stop?timeout=3", "reboot", "kill", "start"):
        assert zun.call("POST", f"{path}/{action}").status == 202
        assert zun.get(path)["task_state"].startswith("container_")
        refused(zun.call("POST", f"{path}/start"), 409, "Cannot start container")
        served.advance(1.0)
        states.append(zun.get(path)["status"])
    assert states == ["Running", "Paused", "Running", "Stopped", "Running", "Stopped", "Running"]
    refused(zun.call("DELETE", path), 409, "in Running state")
    refused(zun.call("DELETE", f"{path}?force=true"), 403, "delete_force")
    assert zun.call("POST", f"{path}/resize?width=80&height=24").status == 200
    assert zun.get(f"{path}/top")["Processes"][0][-1] == "/sbin/init"
    assert zun.get(f"{path}/stats")["CONTAINER"] == "web"

    assert zun.call("PATCH", path, {"name": "web2", "cpu": 0.5, "memory": "1g"}).json["memory"] == "1024"
    assert zun.post(f"{path}/rename?name=web3")["name"] == "web3"
    refused(zun.call("POST", f"{path}/rename?name=web3"), 409, "same as the old name")
    assert zun.post(f"{path}/resize_container", {"cpu": "2"})["cpu"] == 2.0
    assert zun.call("DELETE", "/containers/web3?stop=true").status == 204
    assert zun.get(path)["status"] == "Deleting"
    served.advance(2.0)
    refused(zun.call("GET", path), 404, "Container")


def test_commands_end_and_are_restarted(served: ServedCloud, zun: Zun) -> None:
    done = zun.run(command=["sh", "-c", "echo hello; exit 3"], name="done")
    assert (done["status"], done["status_detail"]) == ("Stopped", "Exited(3) 1 seconds ago")
    assert zun.get("/containers/done/logs") == "hello\n"
    assert zun.get("/containers/done/logs?tail=0&stdout=true") == ""
    refused(zun.call("GET", "/containers/done/logs?timestamps=true"), 400, "not supported")

    once = zun.run(command=["sleep", "30"], auto_remove=True)
    assert once["status"] == "Running"
    served.advance(30.0)
    refused(zun.call("GET", f"/containers/{once['uuid']}"), 404, "could not be found")

    policy = {"Name": "on-failure", "MaximumRetryCount": "2"}
    failing = zun.run(command=["sh", "-c", "echo x; false"], restart_policy=policy)
    assert failing["status"] == "Running"
    served.advance(10.0)
    path = f"/containers/{failing['uuid']}"
    assert (zun.get(path)["status"], zun.get(f"{path}/logs")) == ("Stopped", "x\n" * 3)
    forever = zun.run(command=["true"], restart_policy={"Name": "always"}, name="forever")
    served.advance(300.0)
    assert zun.get(f"/containers/{forever['uuid']}")["status"] == "Running"
    assert zun.post("/containers/forever/execute?command=echo+hi&run=true") == {
        "output": "hi\n", "exit_code": 0, "exec_id": None, "url": None,
    }  # fmt: skip
    assert zun.post("/containers/forever/execute", {"command": "top", "run": True})["exit_code"] == 127
    refused(zun.call("POST", "/containers/forever/execute?command=sh&interactive=true"), 400, "not supported")


@pytest.mark.parametrize(
    ("words", "seconds", "code", "output"),
    [
        ([], None, 0, ""),
        (["nginx", "-g", "daemon off;"], None, 0, ""),
        (["/bin/echo", "a", "b"], 0.0, 0, "a b\n"),
        (["sh", "-c", "echo a && sleep 2; false"], 2.0, 1, "a\n"),
        (["sh", "-c", "echo a; top"], None, 0, "a\n"),
        (["sh", "-c", "echo 'a"], 0.0, 2, "sh: syntax error\n"),
        (["sleep", "x"], 0.0, 1, "sleep: invalid time interval\n"),
    ],
)
def test_sequences_of_commands(words: list[str], seconds: float | None, code: int, output: str) -> None:
    course = command_result(words)
    assert (course.seconds, course.code, course.output) == (seconds, code, output)
    if seconds is None and words:
        assert execution_of(words).code == 127


def test_networks(served: ServedCloud, zun: Zun) -> None:
    private, public = network_of(zun, "private"), network_of(zun, "public")
    made = zun.other("POST", "/network/v2.0/ports", {"port": {"network_id": private, "name": "mine"}})["port"]
    container = zun.run(nets=[{"port": made["id"]}], name="web")
    (entry,) = container["addresses"][private]
    assert (entry["port"], entry["addr"], entry["version"], entry["preserve_on_delete"]) == (
        made["id"], made["fixed_ips"][0]["ip_address"], 4, True
    )  # fmt: skip
    refused(zun.call("POST", "/containers", {"image": "cirros", "nets": [{"port": made["id"]}]}), 409, "in use")
    refused(zun.call("POST", "/containers/web/network_attach?network=private"), 400, "already")
    zun.post("/containers/web/network_attach?network=public")
    listed = zun.get("/containers/web/network_list")["networks"]
    assert [row["net_id"] for row in listed] == [private, public]
    assert set(listed[1]["fixed_ips"][0]) == {"ip_address", "version", "subnet_id"}
    own = listed[1]["port_id"]

    group = zun.other("POST", "/network/v2.0/security-groups", {"security_group": {"name": "open"}})
    key = group["security_group"]["id"]
    zun.post("/containers/web/add_security_group?name=open")
    refused(zun.call("POST", "/containers/web/add_security_group?name=open"), 409, "already present")
    port = zun.other("GET", f"/network/v2.0/ports/{own}")["port"]
    assert (port["security_groups"], port["device_id"]) == ([key], container["uuid"])
    zun.post("/containers/web/remove_security_group?name=open")
    refused(zun.call("POST", "/containers/web/remove_security_group?name=open"), 404, "not associated")

    zun.post(f"/containers/web/network_detach?port={made['id']}")
    refused(zun.call("POST", f"/containers/web/network_detach?port={made['id']}"), 404, "no interface")
    assert zun.other("GET", f"/network/v2.0/ports/{made['id']}")["port"]["device_id"] == ""
    assert zun.call("DELETE", "/containers/web?stop=true").status == 204
    served.advance(2.0)
    assert "port" not in zun.other("GET", f"/network/v2.0/ports/{own}"), "it was created for the container"

    fixed = zun.run(nets=[{"network": "private", "v4-fixed-ip": "10.0.0.50"}])
    assert fixed["addresses"][private][0]["addr"] == "10.0.0.50"
    taken = zun.run(nets=[{"network": "private", "v4-fixed-ip": "10.0.0.50"}])
    assert (taken["status"], taken["addresses"]) == ("Error", {})
    assert "10.0.0.50" in taken["status_reason"]


def test_volumes(served: ServedCloud, zun: Zun) -> None:
    def volumes() -> dict[str, str]:
        listed = zun.other("GET", "/volume/v3/volumes/detail")["volumes"]
        return {row["name"]: row["status"] for row in listed}

    made = zun.other("POST", "/volume/v3/volumes", {"volume": {"size": 1, "name": "data"}})["volume"]
    served.advance(2.0)
    mounts = [{"source": "data", "destination": "/data"}, {"size": "2", "destination": "/more"}]
    container = zun.run(name="db", mounts=mounts)
    assert container["status"] == "Running"
    assert volumes() == {"data": "in-use", "zun-db": "in-use"}
    refused(zun.call("POST", "/containers", {"image": "cirros", "mounts": mounts[:1]}), 409, "in-use state")
    assert zun.call("DELETE", "/containers/db?stop=true").status == 204
    served.advance(5.0)
    assert volumes() == {"data": "available"}
    assert zun.other("GET", f"/volume/v3/volumes/{made['id']}")["volume"]["attachments"] == []


@pytest.mark.parametrize(
    ("wrong", "status", "words"),
    [
        ({"image": None}, 400, "attribute image"),
        ({"name": "-"}, 400, "too short"),
        ({"colour": "red"}, 400, "('colour' was unexpected)"),
        ({"cpu": 0}, 400, "less than or equal to the minimum"),
        ({"memory": "1"}, 400, "at least 4 MiB"),
        ({"restart_policy": {"Name": "maybe"}}, 400, "no Name among"),
        ({"restart_policy": {"Name": "always", "MaximumRetryCount": "2"}}, 400, "restart policy of always"),
        ({"nets": [{}]}, 400, "'network' or 'port'"),
        ({"nets": [{"network": "nothing"}]}, 404, "Neutron network nothing"),
        ({"nets": [{"port": "nothing"}]}, 404, "Neutron port nothing"),
        ({"security_groups": ["nothing"]}, 400, "Security group nothing"),
        ({"mounts": [{"destination": "/a"}]}, 400, "'source' or 'size'"),
        ({"mounts": [{"source": "nothing", "destination": "/a"}]}, 404, "Volume nothing"),
        ({"mounts": [{"source": "x", "destination": "/a", "type": "bind"}]}, 400, "not supported"),
        ({"memory": 60000}, 403, "memory"),
    ],
)
def test_containers_that_are_refused(zun: Zun, wrong: dict[str, Any], status: int, words: str) -> None:
    refused(zun.call("POST", "/containers", {"image": "cirros", **wrong}), status, words)
    assert zun.get("/containers")["containers"] == []


def test_images_and_failures(served: ServedCloud, zun: Zun) -> None:
    absent = zun.run(image="busybox:1.36", image_pull_policy="never")
    assert (absent["status"], absent["task_state"]) == ("Error", None)
    assert "pull policy of Never" in absent["status_reason"]
    assert zun.run(image="nothing", image_driver="glance")["status_reason"] == "Image nothing not found"
    pulled = zun.post("/images", {"repo": "busybox:1.36"})
    assert (pulled["repo"], pulled["tag"]) == ("busybox", "1.36")
    assert zun.run(image="busybox:1.36", image_pull_policy="never")["status"] == "Running"
    assert zun.run(image="cirros", image_driver="glance")["status"] == "Running"
    refused(zun.call("GET", "/images"), 403, "image:get_all")
    assert [row["repo"] for row in Zun(served, "admin").get("/images?limit=1")["images"]] == ["busybox"]
    refused(zun.call("POST", "/images", {"repo": "nothing", "image_driver": "glance"}), 400, "not found")
    assert zun.call("DELETE", f"/images/{pulled['uuid']}").status == 204
    refused(zun.call("GET", f"/images/{pulled['uuid']}"), 400, "Image")

    def fail(on: str) -> None:
        served.do(lambda: served.cloud.faults.add(Fault(on=on, do="error_state", message="No space left", times=1)))

    fail("POST /container/v1/containers")
    broken = zun.run()
    assert (broken["status"], broken["status_reason"]) == ("Error", "No space left")
    fail("DELETE /container/v1/containers/*")
    path = f"/containers/{zun.run()['uuid']}"
    assert zun.call("DELETE", f"{path}?stop=true").status == 204
    served.advance(2.0)
    assert zun.get(path)["status"] == "Error"
    assert zun.call("DELETE", path).status == 204


def test_container_isolation_lists_hosts_and_quotas(served: ServedCloud, zun: Zun) -> None:
    mine, second = zun.run(name="web"), zun.run(name="web")
    refused(zun.call("GET", "/containers/web"), 409, "Multiple containers exist")
    admin = Zun(served, "admin")
    theirs = admin.run(name="theirs", nets=[{"network": "public"}])
    assert "host" not in mine
    assert theirs["host"] == "devstack"
    refused(zun.call("GET", f"/containers/{theirs['uuid']}"), 404, "could not be found")
    assert [row["name"] for row in admin.get("/containers")["containers"]] == ["theirs"]
    assert len(admin.get("/containers?all_projects=1")["containers"]) == 3
    refused(zun.call("GET", "/containers?all_projects=1"), 403, "get_all_all_projects")
    assert len(zun.get("/containers?name=web&status=running")["containers"]) == 2
    first = zun.get("/containers?limit=1&sort_key=uuid")
    assert [row["uuid"] for row in first["containers"]] == [min(mine["uuid"], second["uuid"])]
    assert len(zun.get(first["next"].partition("/v1")[2])["containers"]) == 1
    refused(zun.call("GET", "/containers?colour=red"), 400, "Unknown parameters: colour")

    refused(zun.call("GET", "/hosts"), 403, "host:get_all")
    (host,) = admin.get("/hosts")["hosts"]
    assert (host["total_containers"], admin.get("/hosts/devstack")["uuid"]) == (3, host["uuid"])
    process = {"host": "devstack", "binary": "zun-compute"}
    assert admin.call("PUT", "/services/disable", {**process, "disabled_reason": "repair"}).status == 200
    assert admin.get("/services")["services"][0]["disabled_reason"] == "repair"
    assert zun.run()["status_reason"] == "There are not enough hosts available."
    assert admin.call("PUT", "/services/enable", process).json["service"]["disabled"] is False
    assert admin.call("PUT", "/services/force_down", {**process, "forced_down": True}).status == 200
    assert admin.get("/services")["services"][0]["state"] == "down"
    assert zun.get("/availability_zones") == {"availability_zones": [{"availability_zone": "nova"}]}

    quotas = f"/quotas/{mine['project_id']}"
    assert zun.get(f"{quotas}/defaults")["containers"] == 40
    assert zun.get(f"{quotas}?usages=true")["containers"] == {"limit": 40, "in_use": 3}
    refused(zun.call("PUT", quotas, {"containers": 3}), 403, "quota:update")
    assert admin.call("PUT", quotas, {"containers": 3}).json["containers"] == 3
    refused(zun.call("POST", "/containers", {"image": "cirros"}), 403, "Quota exceeded for resources: ['containers']")
    assert admin.call("DELETE", quotas).status == 200
    assert zun.get(quotas)["containers"] == 40
    refused(zun.call("GET", "/quotas/someone"), 403, "Policy")


def test_archives_are_unpacked_into_containers(served: ServedCloud) -> None:
    def packed(**files: bytes) -> bytes:
        written = io.BytesIO()
        with tarfile.open(fileobj=written, mode="w") as archive:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return written.getvalue()

    def unpacked(data: bytes) -> dict[str, bytes]:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            return {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]

    zun, old = Zun(served), Zun(served, version="1.20")
    made = zun.post("/containers", {"image": "cirros"})
    place = f"/containers/{made['uuid']}"
    assert zun.call("GET", f"{place}/get_archive?path=/tmp/a").status == 409, "it is not created yet"
    served.advance(READY)
    files = {"data": base64.b64encode(packed(**{"a": b"one", "../d/b": b"two"})).decode()}
    assert zun.call("POST", f"{place}/put_archive?path=/tmp", files).status == 200
    fetched = zun.get(f"{place}/get_archive?path=/tmp/a")
    assert (fetched["stat"]["name"], fetched["stat"]["size"]) == ("a", 3)
    assert unpacked(base64.b64decode(fetched["data"])) == {"a": b"one"}
    tree = old.get(f"{place}/get_archive?path=/tmp")["data"].encode("latin-1")
    assert unpacked(tree) == {"tmp/a": b"one", "tmp/d/b": b"two"}, "nothing leaves the directory"
    assert (
        old.call("POST", f"{place}/put_archive?path=/tmp/d", {"data": packed(b=b"3").decode("latin-1")}).status == 200
    )
    assert unpacked(base64.b64decode(zun.get(f"{place}/get_archive?path=/tmp/d")["data"])) == {"d/b": b"3"}
    assert zun.call("GET", f"{place}/get_archive?path=/tmp/none").status == 404
    assert zun.call("POST", f"{place}/put_archive?path=/none", files).status == 404
    refused: list[Any] = [{}, {"data": 1}, {"data": "?"}, {"data": base64.b64encode(b"no archive" * 99).decode()}]
    for body in refused:
        assert zun.call("POST", f"{place}/put_archive?path=/tmp", body).status == 400, body
    large = {"data": base64.b64encode(packed(a=b"x" * (1 << 20))).decode()}
    assert zun.call("POST", f"{place}/put_archive?path=/tmp", large).status == 400
    assert zun.call("POST", f"{place}/put_archive?path=tmp", files).status == 400
