"""Environments and packages as resources, on the emulated application catalog."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.resource import Call
from stoker.resources.murano.environment import Environment
from stoker.resources.murano.package import Package
from tests.emulator.catalog.archives import MANIFEST, archive
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench, Resource

NAME = "com.example.Shop"
FILES = {"manifest.yaml": MANIFEST.format(name=NAME), "Classes/Shop.yaml": ""}
SHOP = {"?": {"type": NAME}, "name": "shop"}
INSTANCE = {"?": {"type": "io.murano.resources.Instance", "id": "i"}, "flavor": "m1.small"}


async def environments_of(cloud: Cloud) -> list[Any]:
    return await cloud.list("murano", "/environments", "environments")


def replacing(bench: Bench, resource: Resource, replacement: dict[str, Any]) -> None:
    """Let the calls of a bench announce the properties of a replacement."""
    make = bench.call

    def call(*arguments: Any, **options: Any) -> Call:
        made = make(*arguments, **options)
        made.resource = replace(made.resource, replacement=replacement)
        return made

    bench.call = call  # type: ignore[method-assign]


async def test_environment_lifecycle(bench: Any, cloud: Cloud, served: ServedCloud) -> None:
    packages, environments = bench(Package), bench(Environment)
    await packages.create({"files": FILES})
    web = await environments.create({"name": "web", "applications": [SHOP, INSTANCE]})
    found = await environments.attributes(web, [("status",), ("version",), ("applications", 1, "flavor")])
    assert list(found.values()) == ["ready", 1, "m1.small"]
    identifier = (await environments.attribute(web, "applications", 0, "?"))["id"]
    await environments.run("check", web)
    await environments.run("adopt", web)
    await environments.update(web, {"name": "shop", "applications": [SHOP, INSTANCE]})
    # Nothing has been deployed for the new name.
    assert await environments.attribute(web, "version") == 1
    await environments.update(web, {"name": "shop", "applications": [{**SHOP, "name": "store"}]})
    assert (await environments.attribute(web, "applications"))[0]["name"] == "store"
    assert (await environments.attribute(web, "applications", 0, "?"))["id"] == identifier
    await cloud.put("murano", f"/environments/{web.physical_id}", {"name": "other"})
    assert await environments.kind.observe(environments.call(web, "CHECK", web.properties)) == {"name": "other"}
    await environments.update(web, {"applications": []})
    assert (await environments_of(cloud))[0]["name"].startswith("web-thing-")
    await environments.delete(web)
    await environments.delete(web)
    with pytest.raises(ActionFailed, match="does not exist"):
        await environments.run("check", web)
    assert await environments_of(cloud) == []


async def test_a_failed_deployment_has_its_reports_as_the_reason(bench: Any, cloud: Cloud) -> None:
    environments: Bench = bench(Environment)
    web = environments.resource()
    web.properties = await environments.finalized({"name": "web", "applications": [SHOP]})
    with pytest.raises(ActionFailed, match=f"deploy failure: Package for class {NAME} is not found") as failed:
        await environments.run("create", web)
    assert not failed.value.failed.in_error
    with pytest.raises(ActionFailed, match="status deploy failure"):
        await environments.run("check", web)
    await bench(Package).create({"archive": base64.b64encode(archive()).decode()})
    assert not await environments.kind.needs_replacement_after_failure(environments.call(web, "UPDATE", web.properties))
    await environments.update(web, {"name": "web", "applications": [SHOP]})
    assert await environments.attribute(web, "status") == "ready"
    with pytest.raises(CloudError, match="already exists") as refused:
        await environments.create({"name": "web"})
    assert refused.value.conflict


async def test_an_environment_is_replaced_under_its_name(bench: Any, cloud: Cloud) -> None:
    environments: Bench = bench(Environment)
    old = await environments.create({"name": "web", "region": "RegionOne"})
    await environments.run("prepare_for_replacement", old)
    new = await environments.create({"name": "web"})
    assert new.physical_id != old.physical_id
    await environments.run("revert_replacement", old)
    names = {one["id"]: one["name"] for one in await environments_of(cloud)}
    assert names == {old.physical_id: "web", new.physical_id: new.physical_id}


async def test_deployments_survive_crashes_and_concurrent_sessions(
    bench: Any, cloud: Cloud, served: ServedCloud
) -> None:
    environments: Bench = bench(Environment)
    web = environments.resource()
    web.properties = await environments.finalized({"applications": [INSTANCE]})
    await run_crashing(environments, "create", web)
    assert [one["id"] for one in await environments_of(cloud)] == [web.physical_id]
    assert await environments.attribute(web, "version") == 1
    path = f"/environments/{web.physical_id}"
    session = await cloud.post("murano", f"{path}/configure", None)
    await cloud.post("murano", f"{path}/sessions/{session['id']}/deploy", None)
    # An environment that somebody deploys is changed, and deleted, after that.
    await environments.update(web, {"applications": []})
    assert await environments.attribute(web, "version") == 3
    session = await cloud.post("murano", f"{path}/configure", None)
    await cloud.post("murano", f"{path}/sessions/{session['id']}/deploy", None)
    await environments.delete(web)
    assert await environments_of(cloud) == []


async def test_a_deletion_that_fails_is_reported(bench: Any, served: ServedCloud) -> None:
    environments: Bench = bench(Environment)
    web = await environments.create({"applications": [INSTANCE]})
    served.cloud.faults.add(Fault("DELETE /application-catalog/*", "error_state"))
    with pytest.raises(ActionFailed, match="delete failure"):
        await environments.delete(web)


async def test_life_of_a_package(bench: Any, cloud: Cloud) -> None:
    packages: Bench = bench(Package)
    shop = await packages.create({"files": FILES, "categories": ["Web"], "tags": ["shop"], "name": "My shop"})
    found = await packages.attributes(shop, [("fully_qualified_name",), ("class_definitions",), ("name",), ("type",)])
    assert list(found.values()) == [NAME, [NAME], "My shop", "Application"]
    await packages.run("check", shop)
    await packages.run("adopt", shop)
    await packages.update(shop, {"files": FILES, "enabled": False, "description": "d"})
    shown = await cloud.get("murano", f"/catalog/packages/{shop.physical_id}")
    assert {name: shown[name] for name in ("name", "tags", "categories", "enabled", "description")} == {
        "name": "Shop", "tags": ["web"], "categories": [], "enabled": False, "description": "d",
    }  # fmt: skip
    with pytest.raises(CloudError, match="already registered") as refused:
        await packages.create({"files": FILES})
    assert refused.value.conflict
    with pytest.raises(CloudError, match="roles admin"):
        await packages.create({"files": {**FILES, "manifest.yaml": MANIFEST.format(name="a.b")}, "is_public": True})
    await packages.delete(shop)
    await packages.delete(shop)
    assert await packages.kind.observe(packages.call(shop, "CHECK", shop.properties)) is None


async def test_a_package_is_replaced_under_its_full_name(bench: Any, cloud: Cloud) -> None:
    packages: Bench = bench(Package)
    old = await packages.create({"files": FILES})
    new = await packages.replaced(old, {"files": {**FILES, "Classes/Shop.yaml": "Name: Shop"}})
    [live] = await cloud.list("murano", "/catalog/packages", "packages")
    assert live["id"] == new.physical_id != old.physical_id
    other = await packages.finalized({"files": {**FILES, "manifest.yaml": MANIFEST.format(name="a.b")}})
    assert not packages.excludes(new.properties, other)


async def test_a_package_is_uploaded_once_despite_crashes(bench: Any, cloud: Cloud) -> None:
    packages: Bench = bench(Package)
    shop = packages.resource()
    shop.properties = await packages.finalized({"files": FILES})
    await run_crashing(packages, "create", shop)
    assert [one["id"] for one in await cloud.list("murano", "/catalog/packages", "packages")] == [shop.physical_id]


@pytest.mark.parametrize(
    ("kind", "properties", "message"),
    [
        (Package, {}, "exactly one of"),
        (Package, {"files": FILES, "archive": "aGFsbG8="}, "exactly one of"),
        (Package, {"files": {"x": ""}}, "has no manifest.yaml"),
        (Package, {"files": {**FILES, "a": 1}}, "content of a must be a string"),
        (Package, {"files": {"manifest.yaml": "[}"}}, "not valid YAML"),
        (Package, {"files": {"manifest.yaml": "a: b"}}, "the string FullName"),
        (Package, {"archive": "%"}, "in base64"),
        (Package, {"archive": "aGFsbG8="}, "not a valid ZIP archive"),
        (Environment, {"applications": [{"name": "shop"}]}, r"applications\[0\]: the key '\?' must be a map"),
        (Environment, {"applications": [INSTANCE, INSTANCE]}, "another application has the ID i"),
        (Environment, {"name": "  "}, "does not match"),
    ],
)
async def test_invalid_properties_are_refused_before_any_request(
    bench: Any, kind: Any, properties: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadProperties, match=message):
        await bench(kind).finalized(properties)
