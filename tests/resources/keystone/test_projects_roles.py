"""OS::Keystone::Project and Role on the emulated identity service."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.resources.keystone.project import Project
from stoker.resources.keystone.role import Role
from tests.resources.resource_harness import Bench


@pytest.fixture
def projects(admin: Cloud, clock: Any) -> Bench:
    return Bench(Project, admin, clock)


@pytest.fixture
def roles(admin: Cloud, clock: Any) -> Bench:
    return Bench(Role, admin, clock)


class TestProject:
    async def test_lifecycle(self, projects: Bench, admin: Cloud) -> None:
        project = await projects.create({"name": "lab", "parent": "demo", "tags": ["a"], "description": "old"})
        values = await projects.attributes(project, [("name",), ("parent_id",), ("is_domain",), ("show", "tags")])
        demo = await admin.find("keystone.project", "demo")
        assert values == {("name",): "lab", ("parent_id",): demo, ("is_domain",): False, ("show", "tags"): ["a"]}
        await projects.update(project, {"name": "lab2", "parent": "demo", "enabled": False})
        made = (await admin.get("keystone", f"/projects/{project.physical_id}"))["project"]
        assert (made["name"], made["enabled"], made["tags"], made["description"]) == ("lab2", False, [], "")
        await projects.delete(project)
        await projects.delete(project)
        with pytest.raises(CloudError, match="404"):
            await admin.get("keystone", f"/projects/{project.physical_id}")

    async def test_default_security_group_is_deleted_with_project(self, projects: Bench, admin: Cloud) -> None:
        project = await projects.create({})
        body = {"security_group": {"name": "web", "project_id": project.physical_id}}
        made = await admin.post("neutron", "/v2.0/security-groups", body)
        await admin.delete("neutron", f"/v2.0/security-groups/{made['security_group']['id']}")
        params = {"project_id": project.physical_id}
        groups = await admin.list("neutron", "/v2.0/security-groups", "security_groups", params)
        assert [group["name"] for group in groups] == ["default"]
        await projects.delete(project)
        listed = await admin.list("neutron", "/v2.0/security-groups", "security_groups", {"id": groups[0]["id"]})
        assert listed == []

    async def test_an_interrupted_creation_is_found(self, projects: Bench) -> None:
        assert (await projects.crash_after_create({})).physical_id is not None
        assert (await projects.crash_after_create({"name": "lab"})).physical_id is not None

    async def test_an_existing_project_is_not_taken(self, projects: Bench) -> None:
        project = projects.resource()
        project.properties = await projects.finalized({"name": "demo"})
        assert await Project().find(projects.call(project, "CREATE", project.properties)) is None


class TestRole:
    async def test_lifecycle(self, roles: Bench, admin: Cloud, calls: list[str]) -> None:
        role = await roles.create({"name": "gardener"})
        assert [call.split()[0] for call in calls] == ["POST"]
        await roles.update(role, {"name": "florist"})
        assert await roles.attribute(role, "show", "name") == "florist"
        await roles.update(role, {})
        assert str(await roles.attribute(role, "show", "name")).startswith("web-thing-")
        await roles.delete(role)
        with pytest.raises(CloudError, match="404"):
            await admin.get("keystone", f"/roles/{role.physical_id}")

    async def test_an_interrupted_creation_is_found(self, roles: Bench) -> None:
        assert (await roles.crash_after_create({"name": "gardener"})).physical_id is not None
        in_domain = await roles.crash_after_create({"domain": "default"})
        assert in_domain.physical_id is not None
        assert await roles.attribute(in_domain, "show", "domain_id") == "default"

    async def test_an_existing_role_is_not_taken(self, roles: Bench) -> None:
        role = roles.resource()
        role.properties = await roles.finalized({"name": "member"})
        assert await Role().find(roles.call(role, "CREATE", role.properties)) is None
