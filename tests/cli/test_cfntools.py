"""heat-cfntools, as PyPI has them, in servers of a running Stoker."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.environments import installed
from tests.cli.agent_cloud import Cloud, until
from tests.cli.cfn_guest import CfnGuest, namespace_problem
from tests.cli.cli_shell import Shell

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("agents"),
    pytest.mark.skipif(sys.version_info >= (3, 12), reason="boto 2, which heat-cfntools use, needs Python before 3.12"),
]

CREDENTIALS = "/etc/cfn/cfn-credentials"


def joined(*parts: Any) -> dict[str, Any]:
    return {"Fn::Join": ["", list(parts)]}


NAME, REGION = {"Ref": "AWS::StackName"}, {"Ref": "AWS::Region"}
KEY, SECRET = {"Ref": "key"}, {"Fn::GetAtt": ["key", "SecretAccessKey"]}


def template(greeting: str, last: str = "") -> dict[str, Any]:
    """A server that sets itself up by its metadata with keys of its own, and says so; hooks watch the metadata.

    last: commands at the end of its user data.
    """
    hup = joined("[main]\nstack=", NAME, "\ncredential-file=", CREDENTIALS, "\nregion=", REGION, "\n")
    action = "echo ran >> /etc/cfn/hooked"
    hook = f"[greeting]\ntriggers=post.update\npath=Resources.server.Metadata\naction={action}\nrunas=root\n"
    files = {
        CREDENTIALS: (joined("AWSAccessKeyId=", KEY, "\nAWSSecretKey=", SECRET, "\n"), "000400"),
        "/etc/cfn/cfn-hup.conf": (hup, "000400"),
        "/etc/cfn/hooks.conf": (hook, "000400"),
        "/etc/cfn/greeting": (greeting, "000640"),
    }
    setup = {
        "files": {
            path: {"content": content, "mode": mode, "owner": "root", "group": "root"}
            for path, (content, mode) in files.items()
        },
        "commands": {"copy": {"command": "cat /etc/cfn/greeting > /etc/cfn/copied"}},
    }
    script = joined(
        "#!/bin/sh\n",
        "cfn-init -s ", NAME, " -r server --region ", REGION, " --access-key ", KEY, " --secret-key ", SECRET,
        "\ncfn-signal --exit-code $? --id booted --data \"$(cat /etc/cfn/copied)\" '", {"Ref": "handle"}, "'\n", last,
    )  # fmt: skip
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "policy": {"Type": "OS::Heat::AccessPolicy", "Properties": {"AllowedResources": ["server"]}},
            "user": {"Type": "AWS::IAM::User", "Properties": {"Policies": [{"Ref": "policy"}]}},
            "key": {"Type": "AWS::IAM::AccessKey", "Properties": {"UserName": {"Ref": "user"}}},
            "handle": {"Type": "AWS::CloudFormation::WaitConditionHandle"},
            "wait": {
                "Type": "AWS::CloudFormation::WaitCondition",
                "DependsOn": "server",
                "Properties": {"Handle": {"Ref": "handle"}, "Timeout": "600"},
            },
            "server": {
                "Type": "AWS::EC2::Instance",
                "Metadata": {"AWS::CloudFormation::Init": {"config": setup}},
                "Properties": {"ImageId": "cirros", "InstanceType": "m1.small", "UserData": {"Fn::Base64": script}},
            },
        },
        "Outputs": {
            "handle": {"Value": {"Ref": "handle"}},
            "data": {"Value": {"Fn::GetAtt": ["wait", "Data"]}},
            "key": {"Value": KEY},
            "secret": {"Value": SECRET},
        },
    }


@pytest.fixture(scope="session")
def tools() -> Path:
    """The programs of heat-cfntools, in an environment of their own."""
    if problem := namespace_problem():
        pytest.skip(f"heat-cfntools use fixed places, and commands cannot have namespaces of their own: {problem}")
    try:
        return installed("cfntools", Path(__file__).parent)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"heat-cfntools cannot be installed from PyPI: {error}")


@pytest.fixture
def cloud(embedded: Shell) -> Cloud:
    return Cloud(embedded)


@pytest.fixture
def guest(embedded: Shell, tools: Path, tmp_path: Path) -> Iterator[CfnGuest]:
    guest = CfnGuest(tmp_path, tools, embedded.endpoints()["cfn"])
    with guest.running():
        yield guest


def test_server_is_configured_by_cfn_init(cloud: Cloud, guest: CfnGuest) -> None:
    """cfn-init, cfn-signal, cfn-get-metadata and cfn-hup do their work with the keys of the stack's own user."""
    name = "cfntools"
    cloud.create(name, template("hello\n"))
    parts = cloud.parts(name)
    metadata = json.loads(parts.pop("cfn-init-data"))  # what is known must come from the API
    guest.boot(parts)
    until(lambda: not cloud.show(name)["stack_status"].endswith("IN_PROGRESS"))
    assert cloud.show(name)["stack_status"] == "CREATE_COMPLETE", guest.log()
    outputs = cloud.outputs(name)
    assert json.loads(outputs["data"]) == {"booted": "hello"}
    credentials = guest.root / CREDENTIALS.lstrip("/")
    assert credentials.read_text() == f"AWSAccessKeyId={outputs['key']}\nAWSSecretKey={outputs['secret']}\n"
    assert credentials.stat().st_mode & 0o777 == 0o400

    found = guest.run("cfn-get-metadata", "-s", name, "-r", "server", "--credential-file", CREDENTIALS)
    assert json.loads(found.splitlines()[0]) == metadata

    hooked = guest.root / "etc/cfn/hooked"
    guest.run("cfn-hup", "--no-daemon")
    assert not hooked.exists(), "nothing has changed"
    cloud.update(name, template("good morning\n"))
    guest.run("cfn-hup", "--no-daemon")
    assert hooked.read_text() == "ran\n", guest.log()
    guest.run("cfn-hup", "--no-daemon")
    assert hooked.read_text() == "ran\n", "the hook runs once for a change"
    cloud.delete(name)


def test_a_server_reports_a_failure(cloud: Cloud, guest: CfnGuest) -> None:
    """cfn-signal with an exit code other than 0 fails the wait condition, with its reason."""
    name = "cfntools-fails"
    cloud.create(name, template("hello\n"))
    cloud.parts(name)
    until(lambda: cloud.outputs(name)["handle"])
    url = cloud.outputs(name)["handle"]
    guest.run("cfn-signal", "--exit-code", "3", "--reason", "the disk is full", "--id", "booted", url)
    until(lambda: not cloud.show(name)["stack_status"].endswith("IN_PROGRESS"))
    shown = cloud.show(name)
    assert shown["stack_status"] == "CREATE_FAILED"
    assert "the disk is full" in shown["stack_status_reason"]
    cloud.delete(name)
