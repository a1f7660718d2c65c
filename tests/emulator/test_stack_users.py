"""What a user may see who has no role but that of the users that stacks create: what the real services let them see.

The statuses are those of Nova, Cinder, Glance, Aodh and Neutron with their default policies.
"""

from __future__ import annotations

import pytest

from openstack_emulator.testing import ServedCloud

from .users import token_with_role

FORBIDDEN = (
    "/compute/v2.1/servers", "/compute/v2.1/servers/detail", "/compute/v2.1/os-server-groups",
    "/volume/v3/{project}/volumes", "/volume/v3/{project}/volumes/detail", "/volume/v3/{project}/snapshots",
    "/volume/v3/{project}/backups", "/volume/v3/{project}/types",
    "/image/v2/images", "/alarming/v2/alarms", "/alarming/v2/quotas",
)  # fmt: skip
OPEN = (
    "/compute/v2.1/flavors", "/compute/v2.1/limits", "/volume/v3/{project}/limits", "/image/v2/info/import",
    "/alarming/v2/capabilities", "/network/v2.0/networks",
)  # fmt: skip
CHANGES = {
    "/compute/v2.1/servers": {"server": {"name": "more"}},
    "/volume/v3/{project}/volumes": {"volume": {"size": 1}},
    "/image/v2/images": {"name": "mine"},
    "/alarming/v2/alarms": {"name": "mine", "type": "event", "event_rule": {}},
    "/alarming/v2/query/alarms": {},
}


@pytest.fixture
def project(served: ServedCloud) -> str:
    [found] = served.call("GET", "/identity/v3/projects?name=demo", token=served.token("admin", "admin")).json[
        "projects"
    ]
    return str(found["id"])


def test_stack_users_cannot_list_or_change(served: ServedCloud, project: str) -> None:
    token = token_with_role(served, "heat_stack_user")
    for path in FORBIDDEN:
        assert served.call("GET", path.format(project=project), token=token).status == 403, path
    for path, body in CHANGES.items():
        assert served.call("POST", path.format(project=project), body, token).status == 403, path
    for path in OPEN:
        assert served.call("GET", path.format(project=project), token=token).status == 200, path


def test_readers_list_but_change_nothing(served: ServedCloud, project: str) -> None:
    token = token_with_role(served, "reader")
    for path in (*FORBIDDEN, *OPEN):
        assert served.call("GET", path.format(project=project), token=token).status == 200, path
    for path, body in CHANGES.items():
        expected = 200 if "/query/" in path else 403
        assert served.call("POST", path.format(project=project), body, token).status == expected, path
