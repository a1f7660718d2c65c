"""OS::Keystone::User and Group on the emulated identity service."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done
from stoker.resources.keystone.base import MARK
from stoker.resources.keystone.group import Group
from stoker.resources.keystone.user import User
from tests.resources.resource_harness import BadProperties, Bench


async def user_of(cloud: Cloud, identifier: str | None) -> dict[str, Any]:
    body: dict[str, Any] = (await cloud.get("keystone", f"/users/{identifier}"))["user"]
    return body


async def roles_of(cloud: Cloud, kind: str, identifier: str | None) -> list[tuple[str, str]]:
    """`(project or domain, role)` names of the assignments of a user or group, sorted."""
    params = {f"{kind}.id": identifier, "include_names": "true"}
    listed = await cloud.list("keystone", "/role_assignments", "role_assignments", params)
    return sorted(
        ((item["scope"].get("project") or item["scope"]["domain"])["name"], item["role"]["name"]) for item in listed
    )


async def groups_of(cloud: Cloud, identifier: str | None) -> list[str]:
    return sorted(group["name"] for group in await cloud.list("keystone", f"/users/{identifier}/groups", "groups"))


@pytest.fixture
def users(admin: Cloud, clock: Any) -> Bench:
    return Bench(User, admin, clock)


@pytest.fixture
def groups(admin: Cloud, clock: Any) -> Bench:
    return Bench(Group, admin, clock)


async def test_one_request_creates_a_user(users: Bench, admin: Cloud, calls: list[str]) -> None:
    await admin.find("keystone.domain", "default")
    calls.clear()
    user = await users.create({"password": "s3cret!"})
    assert [call.split()[0] for call in calls] == ["POST"]
    made = await user_of(admin, user.physical_id)
    assert made["name"].startswith("web-thing-")
    assert MARK not in made
    assert users.reference(user) == user.physical_id
    assert users.reference(users.resource()) == "thing"


async def test_lifecycle_of_a_user(users: Bench, groups: Bench, admin: Cloud) -> None:
    for name in ("staff", "guests"):
        await groups.create({"name": name}, name)
    user = await users.create(
        {
            "name": "zoe",
            "email": "zoe@example.org",
            "default_project": "demo",
            "groups": ["staff"],
            "roles": [{"role": "member", "project": "demo"}, {"role": "reader", "domain": "default"}],
        }
    )
    made = await user_of(admin, user.physical_id)
    assert (made["name"], made["email"], made["enabled"]) == ("zoe", "zoe@example.org", True)
    assert await users.attribute(user, "default_project_id") == await admin.find("keystone.project", "demo")
    assert await groups_of(admin, user.physical_id) == ["staff"]
    assert await roles_of(admin, "user", user.physical_id) == [("Default", "reader"), ("demo", "member")]
    roles = [{"role": "member", "project": "demo"}, {"role": "reader", "project": "demo"}]
    await users.update(user, {"name": "zoe2", "enabled": False, "groups": ["guests"], "roles": roles})
    made = await user_of(admin, user.physical_id)
    assert (made["name"], made.get("email"), made["enabled"]) == ("zoe2", None, False)
    assert made.get("default_project_id") is None
    assert await groups_of(admin, user.physical_id) == ["guests"]
    assert await roles_of(admin, "user", user.physical_id) == [("demo", "member"), ("demo", "reader")]
    await users.delete(user)
    await users.delete(user)
    with pytest.raises(CloudError, match="404"):
        await user_of(admin, user.physical_id)


async def test_a_password_removed_from_the_template_stays(users: Bench, served: Any, calls: list[str]) -> None:
    user = await users.create({"name": "zoe", "password": "s3cret!"})
    calls.clear()
    assert await users.update(user, {"name": "zoe"}) == Done()
    assert calls == []


async def test_an_interrupted_creation_is_found(users: Bench, admin: Cloud) -> None:
    assert (await users.crash_after_create({})).physical_id is not None
    named = await users.crash_after_create({"name": "zoe"})
    assert (await user_of(admin, named.physical_id))[MARK].startswith("web-thing-")


async def test_an_existing_user_of_the_name_is_not_taken(users: Bench, admin: Cloud) -> None:
    await admin.post("keystone", "/users", {"user": {"name": "zoe", "domain_id": "default", "description": ""}})
    user = users.resource()
    user.properties = await users.finalized({"name": "zoe"})
    assert await User().find(users.call(user, "CREATE", user.properties)) is None


async def test_a_failed_user_is_replaced_only_if_it_does_not_exist(users: Bench) -> None:
    user = await users.create({"name": "zoe"})
    call = users.call(user, "UPDATE", user.properties)
    assert not await User().needs_replacement_after_failure(call)
    await users.delete(user)
    assert await User().needs_replacement_after_failure(call)


@pytest.mark.parametrize("place", [{}, {"project": "demo", "domain": "default"}])
@pytest.mark.parametrize("kind", [User, Group])
async def test_a_role_needs_either_project_or_domain(
    kind: Any, place: dict[str, str], admin: Cloud, clock: Any
) -> None:
    with pytest.raises(BadProperties, match="either project or domain"):
        await Bench(kind, admin, clock).finalized({"roles": [{"role": "member", **place}]})


async def test_lifecycle_of_a_group(groups: Bench, admin: Cloud) -> None:
    group = await groups.create({"name": "staff", "roles": [{"role": "member", "project": "demo"}]})
    assert await roles_of(admin, "group", group.physical_id) == [("demo", "member")]
    await groups.update(group, {"name": "crew", "description": "all of us"})
    assert await roles_of(admin, "group", group.physical_id) == []
    assert await groups.attribute(group, "show", "name") == "crew"
    assert await groups.attribute(group, "show", "description") == "all of us"
    assert (await groups.crash_after_create({})).physical_id is not None
    await groups.delete(group)
    with pytest.raises(CloudError, match="404"):
        await admin.get("keystone", f"/groups/{group.physical_id}")
