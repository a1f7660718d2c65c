"""Users of the DNS service."""

from __future__ import annotations

import pytest

from openstack_emulator.testing import ServedCloud
from tests.emulator.dns.harness import Designate


@pytest.fixture
def designate(served: ServedCloud) -> Designate:
    """The user `demo`."""
    return Designate(served)


@pytest.fixture
def admin(served: ServedCloud) -> Designate:
    """The administrator."""
    return Designate(served, "admin")


@pytest.fixture
def stranger(served: ServedCloud) -> Designate:
    """A user in a project of its own."""
    token = served.token()

    def made(member: str, **fields: str) -> str:
        body = {member: {"name": "stranger", **fields}}
        return str(served.call("POST", f"/identity/v3/{member}s", body, token).json[member]["id"])

    project, user = made("project"), made("user", password=served.cloud.password_of("stranger"))
    role = served.call("GET", "/identity/v3/roles?name=member", token=token).json["roles"][0]["id"]
    served.call("PUT", f"/identity/v3/projects/{project}/users/{user}/roles/{role}", token=token)
    return Designate(served, "stranger")
