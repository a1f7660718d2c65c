"""What the manual shows, and the AWS CLI where it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cfn.query_service import REGION, Keys, QueryService

EXAMPLE = Path(__file__).parents[2] / "docs" / "how-to" / "clients" / "with_boto3.py"
TEMPLATE = """
AWSTemplateFormatVersion: '2010-09-09'
Parameters: {Word: {Type: String, Default: hello}}
Resources: {Said: {Type: OS::Heat::Value, Properties: {value: {Ref: Word}}}}
Outputs: {Said: {Value: {'Fn::GetAtt': [Said, value]}}}
"""

HURRY = """
import time
time.sleep = lambda seconds, sleep=time.sleep: sleep(min(seconds, 0.2))
"""
"""Run at the start of each Python program: its waits are short."""

pytestmark = pytest.mark.slow


@pytest.fixture
def environment(world: QueryService, keys: Keys, tmp_path: Path) -> dict[str, str]:
    """What a client needs to know; no file of the user's is read. It polls often: `deploy` would wait 30 s."""
    startup = tmp_path / "startup"
    startup.mkdir()
    (startup / "sitecustomize.py").write_text(HURRY)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(startup),
        "AWS_ACCESS_KEY_ID": keys.access,
        "AWS_SECRET_ACCESS_KEY": keys.secret,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL_CLOUDFORMATION": f"{world.url}/v1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
    }


def run(directory: Path, environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_of_the_manual(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "network.yaml").write_text(TEMPLATE)
    assert run(tmp_path, environment, sys.executable, str(EXAMPLE)).splitlines() == [
        "Said CREATE_COMPLETE",
        "Said hello",
    ]


@pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed")
@pytest.mark.usefixtures("clean")
def test_deploying_with_the_aws_cli(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "t.yaml").write_text(TEMPLATE)

    def aws(*arguments: str) -> str:
        return run(tmp_path, environment, "aws", "cloudformation", *arguments)

    def deploy(*arguments: str) -> str:
        output = aws("deploy", "--stack-name", "cli", "--template-file", "t.yaml", *arguments)
        ended = int(time.time())
        while int(time.time()) == ended:  # the client names change sets by the second: the next needs a later one
            time.sleep(0.05)
        return output

    assert "Successfully created/updated stack - cli" in deploy()
    assert "No changes to deploy" in deploy("--no-fail-on-empty-changeset")
    assert "Successfully created/updated stack - cli" in deploy("--parameter-overrides", "Word=bye")
    (stack,) = json.loads(aws("describe-stacks", "--stack-name", "cli", "--output", "json"))["Stacks"]
    assert stack["Outputs"][0]["OutputValue"] == "bye"
    aws("delete-stack", "--stack-name", "cli")
    aws("wait", "stack-delete-complete", "--stack-name", "cli")
