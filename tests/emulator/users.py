"""Users of the emulated cloud with one role."""

from __future__ import annotations

from openstack_emulator.testing import ServedCloud

_PASSWORD = "not a real password"


def token_with_role(served: ServedCloud, role: str, project: str = "demo") -> str:
    """A token of a new user who has one role in a project."""
    administrator = served.token()
    name = f"only-{role}"
    given = {"user": {"name": name, "password": _PASSWORD, "domain_id": "default"}}
    user = served.call("POST", "/identity/v3/users", given, administrator).json["user"]["id"]
    [found] = served.call("GET", f"/identity/v3/roles?name={role}", token=administrator).json["roles"]
    [place] = served.call("GET", f"/identity/v3/projects?name={project}", token=administrator).json["projects"]
    path = f"/identity/v3/projects/{place['id']}/users/{user}/roles/{found['id']}"
    assert served.call("PUT", path, token=administrator).status == 204
    identity = {"methods": ["password"], "password": {"user": {"id": user, "password": _PASSWORD}}}
    auth = {"auth": {"identity": identity, "scope": {"project": {"id": place["id"]}}}}
    return served.call("POST", "/identity/v3/auth/tokens", auth).headers["x-subject-token"]
