"""Environments, packages, categories and environment templates over HTTP, on the cloud's clock."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import Answer, ServedCloud
from tests.emulator.catalog.archives import archive, form

SHOP = {"?": {"type": "com.example.Shop", "id": "a1"}, "name": "shop", "instance": {"flavor": "m1.small"}}
PATCH = {"Content-Type": "application/murano-packages-json-patch"}


class Client:
    """Sends requests as a user in the project of the same name."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served, self.token = served, served.token(user, user)

    def call(self, method: str, path: str, body: Any = None, session: str | None = None, **headers: str) -> Answer:
        sent = {**headers, **({"X-Configuration-Session": session} if session else {})}
        return self.served.call(method, f"/application-catalog/v1{path}", body, self.token, sent)

    def ok(self, method: str, path: str, body: Any = None, session: str | None = None, **headers: str) -> Any:
        answer = self.call(method, path, body, session, **headers)
        assert answer.status == 200, answer.content
        return answer.json if answer.content else None

    def refused(self, method: str, path: str, body: Any = None, session: str | None = None, **headers: str) -> Any:
        answer = self.call(method, path, body, session, **headers)
        assert answer.status >= 400
        error = answer.json
        assert next(iter(error)) == "error", "python-muranoclient reads the first member"
        assert (error["code"], error["error"]["message"]) == (answer.status, error["explanation"])
        return answer.status, error["explanation"]

    def upload(self, data: bytes | None = None, **fields: Any) -> Answer:
        body, headers = form(archive() if data is None else data, **fields)
        return self.call("POST", "/catalog/packages", body, **headers)


@pytest.fixture
def demo(served: ServedCloud) -> Client:
    return Client(served)


@pytest.fixture
def admin(served: ServedCloud) -> Client:
    return Client(served, "admin")


def test_environment_lifecycle(demo: Client, admin: Client, served: ServedCloud) -> None:
    made = demo.ok("POST", "/environments", {"name": "web"})
    path = f"/environments/{made['id']}"
    assert (made["status"], made["version"], made["networking"]) == ("ready", 0, {})
    assert demo.refused("POST", "/environments", {"name": "web"})[0] == 409
    assert demo.refused("POST", "/environments", {"name": " "})[0] == 400
    assert demo.refused("GET", "/environments/no") == (404, "Environment with id no not found")
    assert demo.refused("POST", f"{path}/services", SHOP)[0] == 400
    first, second = (demo.ok("POST", f"{path}/configure")["id"] for _ in range(2))
    assert demo.ok("POST", f"{path}/services", SHOP, first) == SHOP
    assert demo.refused("POST", f"{path}/services", SHOP, first)[0] == 400
    assert demo.refused("POST", f"{path}/services", {"name": "shop"}, first)[0] == 400
    assert demo.ok("GET", path)["status"] == "pending"
    assert demo.ok("GET", f"{path}/services") == []
    assert demo.ok("GET", f"{path}/services/a1/instance/flavor", session=first) == "m1.small"
    demo.ok("POST", f"{path}/sessions/{first}/deploy")
    assert demo.ok("GET", f"{path}/sessions/{first}")["state"] == "deploying"
    shown = demo.ok("GET", path)
    assert (shown["status"], shown["acquired_by"]) == ("deploying", first)
    for request in (
        ("POST", f"{path}/configure"),
        ("POST", f"{path}/sessions/{first}/deploy"),
        ("DELETE", f"{path}/sessions/{first}"),
        ("DELETE", path),
        ("POST", f"{path}/sessions/{second}/deploy"),
    ):
        assert demo.refused(*request)[0] == 403
    served.advance(10)
    shown = demo.ok("GET", path)
    # Nothing provides the class of the application.
    assert (shown["status"], shown["version"]) == ("deploy failure", 1)
    [deployment] = demo.ok("GET", f"{path}/deployments")["deployments"]
    assert deployment["state"] == "completed_w_errors"
    [report] = demo.ok("GET", f"{path}/deployments/{deployment['id']}")["reports"]
    assert (report["entity_id"], report["text"]) == ("a1", "Package for class com.example.Shop is not found")
    assert demo.refused("GET", f"{path}/sessions/{second}")[0] == 403
    assert demo.upload().status == 200
    session = demo.ok("POST", f"{path}/configure")["id"]
    other = {"?": {"type": "io.murano.resources.Instance"}}
    kept = demo.ok("PUT", f"{path}/services", [SHOP, other], session)
    assert kept[1]["?"]["id"]
    demo.ok("DELETE", f"{path}/services/{kept[1]['?']['id']}", session=session)
    demo.ok("POST", f"{path}/sessions/{session}/deploy")
    served.advance(10)
    assert [one["?"]["status"] for one in demo.ok("GET", path)["services"]] == ["ready"]
    assert [one["state"] for one in demo.ok("GET", "/deployments")["deployments"]] == ["success", "completed_w_errors"]
    assert demo.ok("PUT", path, {"name": "shop"})["name"] == "shop"
    assert admin.ok("GET", "/environments")["environments"] == []
    assert [one["name"] for one in admin.ok("GET", "/environments?all_tenants=true")["environments"]] == ["shop"]
    assert demo.refused("GET", "/environments?all_tenants=true")[0] == 403
    demo.ok("DELETE", path)
    assert demo.ok("GET", path)["status"] == "deleting"
    served.advance(3)
    assert demo.ok("GET", "/environments") == {"environments": []}


def test_faults_make_deployments_and_deletions_fail(demo: Client, served: ServedCloud) -> None:
    path = f"/environments/{demo.ok('POST', '/environments', {'name': 'web'})['id']}"
    session = demo.ok("POST", f"{path}/configure")["id"]
    demo.ok("PUT", f"{path}/services", [{"?": {"type": "io.murano.resources.Instance"}}], session)
    fault = served.cloud.faults.add(Fault("POST /application-catalog/*/deploy", "error_state", message="no room"))
    demo.ok("POST", f"{path}/sessions/{session}/deploy")
    served.advance(10)
    assert demo.ok("GET", path)["status"] == "deploy failure"
    served.cloud.faults.remove(fault.id)
    fault = served.cloud.faults.add(Fault("DELETE /application-catalog/*", "error_state"))
    demo.ok("DELETE", path)
    served.advance(3)
    assert demo.ok("GET", path)["status"] == "delete failure"
    demo.ok("DELETE", f"{path}?abandon=true")
    assert demo.refused("GET", path)[0] == 404


def test_packages(demo: Client, admin: Client) -> None:
    data = archive(files={"UI/ui.yaml": "Version: 2", "logo.png": bytes(range(256)) * 9 + b"\r\n\r\n"})
    made = demo.upload(data, categories=["Web"], tags=["shop"]).json
    path = f"/catalog/packages/{made['id']}"
    assert (made["fully_qualified_name"], made["name"], made["type"]) == ("com.example.Shop", "Shop", "Application")
    assert made["class_definitions"] == ["com.example.Shop"]
    assert (made["categories"], made["tags"], made["enabled"], made["is_public"]) == (["Web"], ["shop"], True, False)
    assert demo.ok("GET", "/catalog/packages/com.example.Shop") == made
    assert demo.call("GET", f"{path}/download").content == data
    assert demo.call("GET", f"{path}/ui").content == b"Version: 2"
    assert demo.call("GET", f"{path}/logo").content == bytes(range(256)) * 9 + b"\r\n\r\n"
    assert demo.call("GET", f"{path}/supplier_logo").status == 404
    assert demo.upload(data).status == 409
    assert demo.upload(archive("com.example.Other"), is_public=True).status == 403
    assert demo.upload(archive("com.example.Other"), categories=["Nothing"]).status == 400
    for wrong in (b"no archive", archive("no name"), archive(files={"manifest.yaml": "[]"}), bytes(6 * 1024**2)):
        assert demo.upload(wrong).status == 400
    assert demo.call("POST", "/catalog/packages", {"name": "x"}).status == 400
    patch = [
        {"op": "add", "path": "/tags", "value": ["web"]},
        {"op": "replace", "path": "/categories", "value": []},
        {"op": "replace", "path": "/enabled", "value": False},
    ]
    changed = demo.ok("PATCH", path, patch, **PATCH)
    assert (changed["tags"], changed["categories"], changed["enabled"]) == (["shop", "web"], [], False)
    assert demo.refused("PATCH", path, [{"op": "replace", "path": "/author", "value": "x"}], **PATCH)[0] == 403
    assert demo.refused("PATCH", path, [{"op": "remove", "path": "/name"}], **PATCH)[0] == 403
    assert demo.ok("GET", "/catalog/packages")["packages"] == []
    assert len(demo.ok("GET", "/catalog/packages?include_disabled=true&tag=in:web,db&search=shop")["packages"]) == 1
    other = admin.upload(archive("com.example.Public"), is_public=True).json
    assert demo.refused("DELETE", f"/catalog/packages/{other['id']}")[0] == 403
    assert [one["id"] for one in demo.ok("GET", "/catalog/packages?catalog=true")["packages"]] == [other["id"]]
    hidden = admin.upload(archive("com.example.Hidden")).json
    assert demo.refused("GET", f"/catalog/packages/{hidden['id']}")[0] == 403
    demo.ok("DELETE", path)
    assert demo.refused("GET", path)[0] == 404


def test_categories(demo: Client, admin: Client) -> None:
    assert demo.refused("POST", "/catalog/categories", {"name": "Shops"})[0] == 403
    made = admin.ok("POST", "/catalog/categories", {"name": "Shops"})
    assert admin.refused("POST", "/catalog/categories", {"name": "Shops"})[0] == 409
    package = demo.upload(categories=["Shops"]).json["id"]
    assert demo.ok("GET", f"/catalog/categories/{made['id']}")["packages"][0]["id"] == package
    assert admin.refused("DELETE", f"/catalog/categories/{made['id']}")[0] == 403
    demo.ok("DELETE", f"/catalog/packages/{package}")
    admin.ok("DELETE", f"/catalog/categories/{made['id']}")
    assert "Shops" not in demo.ok("GET", "/catalog/packages/categories")["categories"]


def test_environment_templates(demo: Client, admin: Client, served: ServedCloud) -> None:
    made = demo.ok("POST", "/templates", {"name": "t"})
    path = f"/templates/{made['id']}"
    demo.ok("POST", f"{path}/services", {"?": {"type": "io.murano.resources.Instance", "id": "i"}})
    assert admin.ok("GET", path)["services"][0]["?"]["id"] == "i"
    assert demo.refused("POST", "/templates", {"name": "t"})[0] == 409
    begun = demo.ok("POST", f"{path}/create-environment", {"name": "web"})
    environment = f"/environments/{begun['environment_id']}"
    demo.ok("POST", f"{environment}/sessions/{begun['session_id']}/deploy")
    served.advance(10)
    assert demo.ok("GET", environment)["status"] == "ready"
    assert demo.ok("DELETE", f"{path}/services/i")["services"] == []
    demo.ok("DELETE", path)
    assert demo.ok("GET", "/templates") == {"templates": []}


def test_versions_and_the_catalog(served: ServedCloud) -> None:
    answer = served.call("GET", "/application-catalog/")
    assert answer.status == 300
    [version] = answer.json["versions"]
    assert (version["id"], version["status"]) == ("v1.0", "CURRENT")
    assert served.call("GET", "/application-catalog/v1/environments").status == 401
