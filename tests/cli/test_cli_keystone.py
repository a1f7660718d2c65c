"""`stoker keystone-setup` against the identity service of an emulated cloud."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.cli.main import cli
from stoker.processes import readiness
from stoker.processes.lifetime import cluster_config

CONFIGURATION = """
[DEFAULT]
region_name_for_services = North
stack_user_domain_name = stacks
stack_domain_admin = stacks_admin
stack_domain_admin_password = of-the-stacks
heat_stack_user_role = stack_member
heat_metadata_server_url = http://cfn:8000
[keystone_authtoken]
auth_type = password
auth_url = {url}/identity/v3
username = stoker
password = of-the-service
user_domain_name = Default
project_name = services
project_domain_name = Default
"""

Setup = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(("image",))) as served:
        yield served


@pytest.fixture
def settings(tmp_path: Path, served: ServedCloud) -> Path:
    path = tmp_path / "heat.conf"
    path.write_text(CONFIGURATION.format(url=served.url))
    return path


@pytest.fixture
def setup(tmp_path: Path, settings: Path, served: ServedCloud, monkeypatch: pytest.MonkeyPatch) -> Setup:
    """Run the command as `admin` or `demo`: the exit status, and what it prints."""
    clouds = {
        user: {
            "auth": {
                "auth_url": f"{served.url}/identity", "username": user, "password": "secret", "project_name": user,
                "user_domain_name": "Default", "project_domain_name": "Default",
            }
        }
        for user in ("admin", "demo")
    }  # fmt: skip
    (tmp_path / "clouds.yaml").write_text(yaml.safe_dump({"clouds": clouds}))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))

    def run(*words: str, user: str = "admin") -> tuple[int, str]:
        given = ["--config-file", str(settings), "--os-cloud", user, "--api-url", "https://heat:8004/v1/"]
        done = CliRunner().invoke(cli, ["keystone-setup", *given, "-f", "json", *words])
        return done.exit_code, done.output

    return run


def outcomes(message: str) -> dict[str, str]:
    return {row["object"]: row["outcome"] for row in json.loads(message)}


def counts(served: ServedCloud) -> dict[str, int]:
    """How many objects of each kind the identity service has."""
    kinds = ("roles", "projects", "users", "domains", "regions", "services", "endpoints", "role_assignments")
    return {kind: len(listed(served, kind)) for kind in kinds}


def listed(served: ServedCloud, kind: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = served.call("GET", f"/identity/v3/{kind}", token=served.token()).json[kind]
    return found


def test_the_identity_service_is_set_up_once(setup: Setup, settings: Path, served: ServedCloud) -> None:
    before = counts(served)
    config = cluster_config([str(settings)])
    assert readiness.service_user(config).level is readiness.Level.FAILURE

    status, message = setup("--dry-run", "--region", "North", "--region", "South")
    assert status == 0, message
    planned = outcomes(message)
    assert counts(served) == before
    assert planned["role admin"] == "present"
    assert planned["role stack_member"] == planned["user stoker"] == planned["domain stacks"] == "to be created"

    status, message = setup("--region", "North", "--region", "South", "--internal-api-url", "http://10.0.0.5:8004")
    done = outcomes(message)
    assert list(done) == list(planned)
    assert {name: {"to be created": "created"}.get(value, value) for name, value in planned.items()} == done
    assert "secret" not in message and "of-the" not in message
    after = counts(served)
    made = {kind: after[kind] - before[kind] for kind in after}
    assert made == {
        "roles": 1, "projects": 1, "users": 2, "domains": 1, "regions": 2, "services": 2, "endpoints": 12,
        "role_assignments": 3,
    }  # fmt: skip
    services = {row["id"]: row["type"] for row in listed(served, "services")}
    urls = {
        (services[row["service_id"]], row["interface"]): row["url"]
        for row in listed(served, "endpoints")
        if row["region_id"] == "North"
    }
    assert urls["orchestration", "public"] == "https://heat:8004/v1/%(project_id)s"
    assert urls["orchestration", "admin"] == "http://10.0.0.5:8004/v1/%(project_id)s"
    assert urls["cloudformation", "internal"] == "http://cfn:8000/v1"

    checks = (readiness.service_user, readiness.catalog, readiness.stack_domain)
    assert [check(config) for check in checks] == [readiness.GOOD] * 3

    again = ("--region", "North", "--region", "South", "--internal-api-url", "http://10.0.0.5:8004")
    assert set(outcomes(setup(*again)[1]).values()) == {"present"}
    changed = outcomes(setup("--cfn-url", "http://elsewhere:8000")[1])
    assert {name for name, outcome in changed.items() if outcome == "changed"} == {
        "internal endpoint of orchestration in North",
        "admin endpoint of orchestration in North",
        "public endpoint of cloudformation in North",
        "internal endpoint of cloudformation in North",
        "admin endpoint of cloudformation in North",
    }
    assert counts(served) == after


def test_users_without_the_admin_role_are_refused(setup: Setup, served: ServedCloud) -> None:
    before = counts(served)
    status, message = setup(user="demo")
    assert status == 1 and "The identity service refused GET /roles: 403" in message
    assert counts(served) == before


def test_the_configuration_must_name_what_is_created(setup: Setup, settings: Path) -> None:
    settings.write_text(settings.read_text().replace("stack_domain_admin", "#").replace("password = of", "#"))
    status, message = setup()
    assert status == 1
    assert (
        "Set [keystone_authtoken] password, [DEFAULT] stack_domain_admin, [DEFAULT] stack_domain_admin_pass" in message
    )
