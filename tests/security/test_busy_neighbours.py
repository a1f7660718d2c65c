"""What other tenants notice while somebody asks for what is expensive, with valid requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.security.neighbours import Act, Record, Service, Tenant, body, measured, started

SECONDS = 3.0
"""How long each of these attacks lasts: enough for some forty answers to the neighbour."""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("neighbours")]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with started(tmp_path_factory.mktemp("up") / "data") as service:
        yield service


@pytest.fixture(scope="module")
def attacker(service: Service) -> Tenant:
    return service.login("demo", "secret", "demo")


def template(resources: int) -> dict[str, Any]:
    """A template with so many resources, the last of which depends on 20 others."""
    members = {f"r{n}": {"type": "OS::Heat::RandomString", "properties": {"length": 32}} for n in range(resources - 1)}
    last = {
        "type": "OS::Heat::Value",
        "properties": {"value": {"list_join": [",", [{"get_attr": [name, "value"]} for name in list(members)[:20]]]}},
    }
    return {"heat_template_version": "2021-04-16", "resources": {**members, "last": last}}


@pytest.fixture(scope="module")
def large(attacker: Tenant) -> str:
    """The URL of a stack of 351 resources."""
    return attacker.create("large", template(351))


@pytest.fixture(scope="module")
def nested(attacker: Tenant) -> str:
    """The URL of a stack with 350 more resources in its nested stack."""
    member = {"type": "OS::Heat::RandomString"}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 350, "resource_def": member}}
    return attacker.create("nested", {"heat_template_version": "2021-04-16", "resources": {"group": group}})


def reading(url: str) -> Act:
    """Read a URL again and again."""
    return lambda session, _: session.get(url, timeout=60).status_code


@pytest.mark.parametrize("path", ["/resources?with_detail=true", "/resources", "/events", "/export"])
def test_reading(service: Service, attacker: Tenant, large: str, path: str, record_property: Record) -> None:
    """Eight clients read a stack of 351 resources again and again."""
    assert measured(service, attacker, reading(f"{large}{path}"), record_property, SECONDS)


@pytest.mark.parametrize("path", ["/resources?with_detail=true&nested_depth=2", "/events?nested_depth=5"])
def test_reading_a_tree(service: Service, attacker: Tenant, nested: str, path: str, record_property: Record) -> None:
    """Eight clients read a tree of stacks of 351 resources again and again."""
    assert measured(service, attacker, reading(f"{nested}{path}"), record_property, SECONDS)


@pytest.mark.parametrize("page", ["", "/definition", "/graph", "/timeline"])
def test_console(service: Service, attacker: Tenant, large: str, page: str, record_property: Record) -> None:
    """Eight clients open a page of the web console for a stack of 351 resources again and again."""
    base = service.rest.removesuffix("/v1")
    browser = requests.Session()
    browser.headers["Origin"] = base
    form = re.search(r'name="csrf" value="([^"]*)"', browser.get(f"{base}/console/login", timeout=60).text)
    login = {"user": "demo", "password": "secret", "project": "demo", "domain": "Default"}
    fields = {**login, "csrf": form[1] if form else ""}
    answer = browser.post(f"{base}/console/login", data=fields, timeout=60, allow_redirects=False)
    assert answer.status_code == 303, answer.text
    cookies = {cookie.name: cookie.value or "" for cookie in browser.cookies}
    url = f"{base}/console/stacks/{'/'.join(large.split('/')[-2:])}{page}"
    assert browser.get(url, timeout=60).status_code == 200

    def open_page(session: requests.Session, _: int) -> int:
        return session.get(url, cookies=cookies, timeout=60, allow_redirects=False).status_code

    assert measured(service, attacker, open_page, record_property, SECONDS)


def test_snapshots(service: Service, attacker: Tenant, record_property: Record) -> None:
    """Eight clients take snapshots of a stack of 60 resources, and list and delete them."""
    url = attacker.create("pictured", template(60))

    def picture(session: requests.Session, number: int) -> int:
        made = session.post(f"{url}/snapshots", data="{}", timeout=60)
        found = session.get(f"{url}/snapshots", timeout=60).json()["snapshots"]
        for snapshot in found[number::8][:3]:
            session.delete(f"{url}/snapshots/{snapshot['id']}", timeout=60)
        return made.status_code

    assert measured(service, attacker, picture, record_property, SECONDS)


def test_creations_and_deletions(service: Service, attacker: Tenant, record_property: Record) -> None:
    """Eight clients create stacks of 60 resources, and delete them at once."""
    turn = iter(range(10**9))

    def turn_over(session: requests.Session, number: int) -> int:
        name = f"turned{number}-{next(turn)}"
        made = session.post(f"{attacker.url}/stacks", data=body(name, template(60)), timeout=60)
        if made.status_code == 201:
            session.delete(f"{attacker.url}/stacks/{name}/{made.json()['stack']['id']}", timeout=60)
        return made.status_code

    assert measured(service, attacker, turn_over, record_property, SECONDS)
