"""User data of servers, and how they receive their software configuration."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from email import message_from_string
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from aiohttp import ClientSession

from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue
from stoker.cloud import messaging
from stoker.cloud.session import Cloud
from stoker.plugins.agents import as_stack_user
from stoker.resources.nova.guest import BOOT_HOOK, PART_HANDLER, RUN_USER_DATA
from stoker.resources.nova.server.server import Server
from stoker.resources.nova.user_data import boot_data
from stoker_foundation.clock import ManualClock
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import Bench, Resource

Given = Callable[..., dict[str, Any]]
PRIVATE = {"network": "private"}
CONFIG_ID = "99999999-8888-7777-6666-555555555555"
URL = "http://stoker.example.com:8000/v1"


class Configs:
    """Software configs stored in a dictionary."""

    def __init__(self, stored: Mapping[str, Mapping[str, Any]]) -> None:
        self.stored = stored

    async def get(self, identifier: str) -> Mapping[str, Any] | None:
        return self.stored.get(identifier)


@pytest.fixture
def servers(cloud: Cloud, clock: ManualClock, served: ServedCloud) -> Bench:
    """A bench with the option for the URL of servers' metadata."""
    configs = Configs({CONFIG_ID: {"config": "#!/bin/sh\necho stored"}})
    made = Bench(Server, cloud, clock, served.advance, configs=configs)
    made.stack = replace(made.stack, options={"heat_metadata_server_url": URL})
    return made


async def boots_with(servers: Bench, given: dict[str, Any], metadata: Mapping[str, Any] | None = None) -> str:
    """The user data of a server that would be created."""
    resource = servers.resource()
    resource.metadata = metadata or {}
    return await boot_data(servers.call(resource, "CREATE", await servers.finalized(given)))


def parts(text: str) -> list[tuple[str | None, str, str]]:
    """File name, kind and content of each part of a MIME message."""
    message = message_from_string(text)
    assert message.get_content_type() == "multipart/mixed"
    found = []
    for part in message.walk():
        if not part.is_multipart():
            payload = part.get_payload(decode=True)
            assert isinstance(payload, bytes)
            found.append((part.get_filename(), part.get_content_type(), payload.decode()))
    return found


async def test_raw_user_data_is_unchanged(servers: Bench, given: Given) -> None:
    properties = given(PRIVATE, user_data_format="RAW")

    assert await boots_with(servers, {**properties, "user_data": "#!/bin/sh"}, {"a": 1}) == "#!/bin/sh"
    assert await boots_with(servers, properties) == ""


async def test_the_id_of_a_software_config_is_replaced_by_its_content(servers: Bench, given: Given) -> None:
    properties = given(PRIVATE, user_data_format="RAW")

    assert await boots_with(servers, {**properties, "user_data": CONFIG_ID}) == "#!/bin/sh\necho stored"
    other = CONFIG_ID.replace("9", "0")
    assert await boots_with(servers, {**properties, "user_data": other}) == other


async def test_user_data_for_the_agents(servers: Bench, given: Given) -> None:
    text = await boots_with(servers, given(PRIVATE, user_data="#!/bin/sh\necho ü"), {"a": 1})

    found = parts(text)
    assert [(name, kind.partition("/")[2]) for name, kind, _ in found] == [
        ("cloud-config", "cloud-config"),
        ("boothook.sh", "cloud-boothook"),
        ("part-handler.py", "part-handler"),
        ("cfn-userdata", "x-cfninitdata"),
        ("loguserdata.py", "x-shellscript"),
        ("cfn-init-data", "x-cfninitdata"),
        ("cfn-metadata-server", "x-cfninitdata"),
        ("cfn-boto-cfg", "x-cfninitdata"),
    ]
    contents = {name: content for name, _, content in found}
    assert contents["cfn-userdata"] == "#!/bin/sh\necho ü"
    assert json.loads(contents["cfn-init-data"]) == {"a": 1}
    assert contents["cfn-metadata-server"] == f"{URL}/"
    assert "cfn_region_endpoint = stoker.example.com\n" in contents["cfn-boto-cfg"]
    assert text == await boots_with(servers, given(PRIVATE, user_data="#!/bin/sh\necho ü"), {"a": 1})


async def test_software_configuration_splits_multipart_user_data(servers: Bench, given: Given) -> None:
    properties = given(PRIVATE, user_data_format="SOFTWARE_CONFIG")
    inner = (
        'Content-Type: multipart/mixed; boundary="x"\nMIME-Version: 1.0\n\n--x\n'
        'Content-Type: text/x-shellscript\nContent-Disposition: attachment; filename="a.sh"\n\n#!/bin/sh\n--x--\n'
    )

    plain = parts(await boots_with(servers, {**properties, "user_data": "#cloud-config"}))
    apart = parts(await boots_with(servers, {**properties, "user_data": inner}))

    assert plain[3:] == [(None, "text/plain", "#cloud-config")]
    assert [(name, kind) for name, kind, _ in apart[3:]] == [("a.sh", "text/x-shellscript")]


async def test_ignition_gets_the_metadata_as_files(servers: Bench, given: Given) -> None:
    ignition = {"ignition": {"version": "3.0.0"}, "storage": {"files": [{"path": "/x"}]}}
    properties = given(PRIVATE, user_data_format="SOFTWARE_CONFIG", user_data=json.dumps(ignition))

    found = json.loads(await boots_with(servers, properties, {"a": "ü"}))["storage"]["files"]

    assert [file["path"] for file in found] == [
        "/x",
        "/var/lib/heat-cfntools/cfn-init-data",
        "/var/lib/cloud/data/cfn-init-data",
    ]
    assert json.loads(unquote(found[1]["contents"]["source"].partition(",")[2])) == {"a": "ü"}
    properties["user_data"] = json.dumps({**ignition, "storage": {"files": "none"}})
    with pytest.raises(BadValue, match="Ignition"):
        await boots_with(servers, properties, {"a": 1})


# -- the pieces themselves ----------------------------------------------------------------------------------------


def test_the_handler_stores_parts(tmp_path: Path) -> None:
    folders = (str(tmp_path / "agents"), str(tmp_path / "cloud"))
    names: dict[str, Any] = {"__name__": "handler"}
    exec(PART_HANDLER, names)
    names |= {"FOLDERS": folders, "LOG": str(tmp_path / "log")}

    names["handle_part"](None, "__begin__", None, None)
    names["handle_part"](None, "text/x-cfninitdata", "../cfn-userdata", "ü")

    assert names["list_types"]() == ["text/x-cfninitdata"]
    assert [(Path(folder) / "cfn-userdata").read_text() for folder in folders] == ["ü", "ü"]
    assert (Path(folders[0]).stat().st_mode & 0o777) == 0o700


@pytest.mark.parametrize(
    ("script", "code"),
    [("#!/bin/sh\necho out\nexit 0\n", 0), ("#!/bin/sh\nexit 7\n", 7), ("", 0), ("plain words\n", 0)],
    ids=["good", "bad", "empty", "no program"],
)
def test_user_data_are_run_once(tmp_path: Path, script: str, code: int) -> None:
    (tmp_path / "cfn-userdata").write_text(script)
    program = RUN_USER_DATA.replace("/var/lib/heat-cfntools", str(tmp_path)).replace("/var/log", str(tmp_path))

    ran = subprocess.run([sys.executable, "-c", program], check=False)

    assert ran.returncode == code
    assert (tmp_path / "provision-finished").exists() == (code == 0)
    assert f"exit code {code}" in (tmp_path / "heat-provision.log").read_text()


def test_the_scripts_start_from_a_shell(tmp_path: Path) -> None:
    (tmp_path / "cfn-userdata").write_text("#!/bin/sh\nexit 3\n")
    program = RUN_USER_DATA.replace("/var/lib/heat-cfntools", str(tmp_path)).replace("/var/log", str(tmp_path))
    (tmp_path / "run").write_text(program)

    assert subprocess.run(["/bin/sh", str(tmp_path / "run")], check=False).returncode == 3
    assert subprocess.run(["/bin/sh", "-c", BOOT_HOOK], check=False).returncode == 0


# -- software configuration ---------------------------------------------------------------------------------------


def configured(given: Given, transport: str) -> dict[str, Any]:
    """A server with software configuration."""
    return given(PRIVATE, user_data_format="SOFTWARE_CONFIG", software_config_transport=transport)


async def users(cloud: Cloud) -> list[Any]:
    """The stacks' own users."""
    domain = await cloud.as_stack_domain_admin()
    shown = await domain.get("keystone", "/auth/tokens", headers={"X-Subject-Token": await domain.token()})
    listed = await domain.list("keystone", "/users", "users", {"domain_id": shown["token"]["domain"]["id"]})
    return [user["id"] for user in listed if user["name"].startswith("web-")]


async def test_polling_the_cloudformation_api(servers: Bench, admin: Cloud, given: Given) -> None:
    server = await servers.create(configured(given, "POLL_SERVER_CFN"))

    configuration = await servers.attribute(server, "os_collect_config")
    assert configuration["collectors"] == ["ec2", "cfn", "local"]
    assert configuration["cfn"] == {
        "metadata_url": f"{URL}/",
        "access_key_id": server.data["access_key"],
        "secret_access_key": server.data["secret_key"],
        "stack_name": "web",
        "path": "thing.Metadata",
    }
    assert server.metadata["deployments"] == []
    assert await users(servers.cloud) == [server.data["user_id"]]
    seen = (await admin.get("nova", f"/servers/{server.physical_id}"))["server"]["OS-EXT-SRV-ATTR:user_data"]
    contents = {name: content for name, _, content in parts(base64.b64decode(seen).decode())}
    assert json.loads(contents["cfn-init-data"]) == server.metadata

    await servers.delete(server)
    assert await users(servers.cloud) == []
    assert "secret_key" not in server.data


async def test_polling_the_orchestration_api_after_a_change(servers: Bench, given: Given) -> None:
    server = await servers.create(configured(given, "POLL_SERVER_CFN"))

    await servers.update(server, configured(given, "POLL_SERVER_HEAT"))

    configuration = await servers.attribute(server, "os_collect_config")
    assert configuration["collectors"] == ["ec2", "heat", "local"]
    assert set(configuration["cfn"].values()) == {None}
    assert (configuration["heat"]["user_id"], configuration["heat"]["stack_id"]) == (
        server.data["user_id"],
        "web/stack-id",
    )


async def test_changed_metadata_keeps_the_agents_configuration(servers: Bench, given: Given) -> None:
    server = await servers.create(configured(given, "POLL_SERVER_HEAT"))
    configuration = await servers.attribute(server, "os_collect_config")
    server.metadata = {"new": True}

    await servers.update(server, configured(given, "POLL_SERVER_HEAT"))

    assert server.metadata == {"new": True, "deployments": [], "os-collect-config": configuration}


async def test_messages_in_a_queue_of_the_user(servers: Bench, given: Given) -> None:
    server = await servers.create(configured(given, "ZAQAR_MESSAGE"))
    configuration = await servers.attribute(server, "os_collect_config")
    assert configuration["collectors"] == ["ec2", "zaqar", "local"]
    queue = configuration["zaqar"]["queue_id"]
    project = server.data["stack_user_project_id"]
    user = await as_stack_user(servers.cloud, server.data, project)
    assert configuration["zaqar"]["project_id"] == project
    assert list((await messaging.read(user, queue, 10**6)).values()) == [server.metadata]
    assert await messaging.read(servers.cloud, queue, 10**6) == {}, "it is not in the project of the owner"

    await servers.update(server, configured(given, "POLL_SERVER_HEAT"))
    assert set((await servers.attribute(server, "os_collect_config"))["zaqar"].values()) == {None}
    assert await messaging.read(user, queue, 10**6) == {}


async def test_the_queue_of_a_server_is_deleted_with_it(servers: Bench, served: ServedCloud, given: Given) -> None:
    server = await servers.create(configured(given, "ZAQAR_MESSAGE"))
    queues = served.cloud.of(Messaging).queues.rows
    assert [queue.project_id for queue in queues] == [server.data["stack_user_project_id"]]
    await servers.delete(server)
    assert list(queues) == []
    assert await users(servers.cloud) == []


async def test_polling_an_object_in_swift(servers: Bench, given: Given) -> None:
    properties = configured(given, "POLL_TEMP_URL") | {"deployment_swift_data": {"container": "told", "object": "web"}}
    server = await servers.create(properties)

    configuration = await servers.attribute(server, "os_collect_config")
    assert configuration["collectors"] == ["ec2", "request", "local"]
    async with ClientSession() as guest, guest.get(configuration["request"]["metadata_url"]) as answer:
        assert await answer.json() == server.metadata
    assert await users(servers.cloud) == []

    await servers.delete(server)
    assert await servers.cloud.get("swift", "?format=json") in ([], None)


async def test_signals_may_stay_in_swift(servers: Bench, given: Given) -> None:
    server = await servers.create(configured(given, "POLL_TEMP_URL"))

    await servers.update(server, configured(given, "POLL_SERVER_HEAT"))

    configuration = await servers.attribute(server, "os_collect_config")
    assert configuration["collectors"] == ["ec2", "heat", "local"]
    assert configuration["request"] == {"metadata_url": None}
    assert await servers.cloud.get("swift", "?format=json") in ([], None)


async def test_metadata_must_not_name_deployments(servers: Bench, given: Given) -> None:
    server: Resource = servers.resource()
    server.metadata = {"deployments": []}
    server.properties = await servers.finalized(configured(given, "POLL_SERVER_HEAT"))

    with pytest.raises(BadValue, match="deployments"):
        await servers.run("create", server)


async def test_crashes_at_every_step_leave_no_user(servers: Bench, given: Given) -> None:
    server = servers.resource()
    server.properties = await servers.finalized(configured(given, "POLL_SERVER_CFN"))

    await run_crashing(servers, "create", server)
    assert len(await users(servers.cloud)) == 1
    await run_crashing(servers, "delete", server)

    assert await users(servers.cloud) == []
    assert await servers.cloud.list("nova", "/servers", "servers") == []
