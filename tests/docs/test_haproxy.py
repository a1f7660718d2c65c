"""The manual's configuration of HAProxy: TLS in front of both interfaces of a running Stoker."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
import requests
from botocore.config import Config

from testing.servers import HOST, HAProxy, ServerMissing, free_port, wait_until
from tests.cli.cli_shell import ANY_PORTS, Shell, shell_in

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HEAT_CONF = "[oslo_middleware]\nenable_proxy_headers_parsing = true\n"


@pytest.fixture
def stoker(tmp_path: Path) -> Iterator[Shell]:
    """A running Stoker with the settings that the page names."""
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
    assert HEAT_CONF in page
    (tmp_path / "heat.conf").write_text(HEAT_CONF)
    user = shell_in(tmp_path)
    user.ok("up", "--detach", "--services", "image", "--config-file", str(tmp_path / "heat.conf"), *ANY_PORTS)
    yield user
    user.ok("down")


def test_haproxy_serves_both_interfaces_with_tls(stoker: Shell) -> None:
    endpoints = stoker.endpoints()
    rest, query = (urlsplit(endpoints[name]).port for name in ("rest", "cfn"))
    public, cfn = free_port(), free_port()
    replaced = {
        "203.0.113.10:8004": f"{HOST}:{public}",
        "203.0.113.10:8000": f"{HOST}:{cfn}",
        "/etc/haproxy/heat.pem": "{pem}",
        "10.0.0.11:8004": f"{HOST}:{rest}",
        "10.0.0.12:8004": f"{HOST}:{free_port()}",  # a controller that is down
        "10.0.0.11:8000": f"{HOST}:{query}",
        "10.0.0.12:8000": f"{HOST}:{free_port()}",
    }
    try:
        proxy = HAProxy(ROOT / "deploy" / "haproxy" / "haproxy.cfg", replaced, public)
    except ServerMissing as error:
        pytest.skip(str(error))
    try:
        proxy.prepare()
        proxy.start()
        url, authority = f"https://{HOST}:{public}", str(proxy.tls.authority)
        wait_until(lambda: requests.get(f"{url}/healthcheck", verify=authority).status_code == 200, "a server is up")
        token, user, project = login(endpoints["identity"])
        rest_requests(url, authority, token, project)
        credentials = requests.post(
            f"{endpoints['identity']}/users/{user}/credentials/OS-EC2",
            json={"tenant_id": project},
            headers={"X-Auth-Token": token},
        ).json()["credential"]
        query_requests(f"https://{HOST}:{cfn}/v1", authority, credentials)
        # Neither an old TLS nor plain HTTP.
        assert "no protocols available" in handshake(public, "-tls1_1") or "alert" in handshake(public, "-tls1_1")
        with pytest.raises(requests.ConnectionError):
            requests.get(f"http://{HOST}:{public}/")
    finally:
        proxy.remove()


def login(identity: str) -> tuple[str, str, str]:
    """Return a token of the user demo, and the IDs of user and project."""
    domain = {"name": "Default"}
    who: Any = {"methods": ["password"], "password": {"user": {"name": "demo", "domain": domain, "password": "secret"}}}
    body: Any = {"auth": {"identity": who, "scope": {"project": {"name": "demo", "domain": domain}}}}
    answer = requests.post(f"{identity}/auth/tokens", json=body)
    token = answer.json()["token"]
    return answer.headers["X-Subject-Token"], token["user"]["id"], token["project"]["id"]


def rest_requests(url: str, authority: str, token: str, project: str) -> None:
    """Check that links and redirects name the proxy, whatever headers a client sends."""
    hostile = {
        "X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example", "X-Forwarded-Prefix": "/evil",
        "Forwarded": "host=evil.example;proto=http",
    }  # fmt: skip
    session = requests.Session()
    session.verify, session.trust_env = authority, False
    assert session.get(f"{url}/v1/{project}/stacks", headers=hostile).status_code == 401
    session.headers.update({"X-Auth-Token": token, **hostile})
    (version,) = session.get(url).json()["versions"]
    assert version["links"][0]["href"] == f"{url}/v1/"
    template: Any = {"heat_template_version": "2021-04-16", "resources": {"word": {"type": "OS::Heat::RandomString"}}}
    made = session.post(f"{url}/v1/{project}/stacks", json={"stack_name": "proxied", "template": template})
    assert made.status_code == 201, made.text
    assert made.json()["stack"]["links"][0]["href"].startswith(f"{url}/v1/{project}/stacks/proxied/")
    found = session.get(f"{url}/v1/{project}/stacks/proxied", allow_redirects=False)
    assert found.status_code == 302 and found.headers["Location"].startswith(f"{url}/v1/{project}/stacks/proxied/")
    place = found.headers["Location"]
    wait_until(lambda: session.get(place).json()["stack"]["stack_status"] == "CREATE_COMPLETE", "the stack is complete")


def query_requests(url: str, authority: str, keys: dict[str, str]) -> None:
    """Check that the signature of a request is still valid behind the proxy."""
    client = boto3.client(
        "cloudformation", region_name="RegionOne", endpoint_url=url, verify=authority,
        aws_access_key_id=keys["access"], aws_secret_access_key=keys["secret"],
        config=Config(retries={"max_attempts": 0}),
    )  # fmt: skip
    assert [stack["StackName"] for stack in client.list_stacks()["StackSummaries"]] == ["proxied"]


def handshake(port: int, *options: str) -> str:
    """Return what `openssl s_client` prints."""
    command = ["openssl", "s_client", "-connect", f"{HOST}:{port}", *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout + done.stderr
