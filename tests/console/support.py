"""A console over a real engine and an emulated cloud, and browsers without scripts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests
from oslo_policy import opts as policy_options

from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.api.server import Server
from stoker.processes.web_console import with_console
from stoker_foundation.clock import Clock, SystemClock
from testing.harness import ThreadedWorld, api_config
from testing.servers import wait_until

FORM_SECRET = re.compile(r'name="csrf" value="([^"]+)"')


@contextmanager
def served_console(
    world: ThreadedWorld,
    directory: Path,
    clock: Clock | None = None,
    policy: Mapping[str, str] | None = None,
    **options: int | str,
) -> Iterator[str]:
    """Yield the URL of a REST API with the console; `options` are those of `[console]`.

    `policy` has the operator's rules.
    """
    config = api_config(directory, world.served)
    if policy:
        (directory / "policy.yaml").write_text(json.dumps(policy))
        policy_options.set_defaults(config)
        config.set_override("policy_file", str(directory / "policy.yaml"), group="oslo_policy")
    config.set_override("auth_encryption_key", "0123456789abcdef0123456789abcdef")
    config.set_override("auth_url", f"{world.served.url}/identity/v3", group="console")
    for name, value in {"enabled": True, **options}.items():
        config.set_override(name, value, group="console")
    server = Server(with_console(config, make_app(config, world.client()), clock or SystemClock()), "127.0.0.1", 0, 8)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


class Browser:
    """A user who reads pages and sends their forms."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.session = requests.Session()

    def get(self, path: str, **headers: str) -> requests.Response:
        return self.session.get(f"{self.base}/console{path}", headers=headers, allow_redirects=False, timeout=60)

    def post(self, path: str, form: dict[str, Any], **headers: str) -> requests.Response:
        return self.session.post(
            f"{self.base}/console{path}", data=form, headers=headers, allow_redirects=False, timeout=60
        )

    def log_in(self, user: str, password: str, **more: str) -> requests.Response:
        return self.post("/login", {"user": user, "password": password, "project": user, **more})

    def submit(self, path: str, page: str, **fields: Any) -> requests.Response:
        """Send a form with the secret of the page that it is on."""
        found = FORM_SECRET.search(self.get(page).text)
        assert found, page
        return self.post(path, {"csrf": found[1], **fields})


def logged_in(base: str, served: ServedCloud, user: str = "demo") -> Browser:
    """Return the browser of a user who has logged in."""
    browser = Browser(base)
    answer = browser.log_in(user, served.cloud.password_of(user))
    assert answer.status_code == 303, answer.text
    return browser


def add_user(served: ServedCloud, name: str, role: str = "member", project: str = "") -> None:
    """Make a user with a role in a project, as an operator does; without one, in a new project of the user's name."""
    token = served.token("admin", "admin")

    def make(method: str, path: str, body: Any = None) -> Any:
        answer = served.call(method, f"/identity/v3{path}", body, token)
        assert answer.status < 300, answer.content
        return answer.json if answer.content else None

    if project:
        (found,) = make("GET", f"/projects?name={project}")["projects"]
    else:
        found = make("POST", "/projects", {"project": {"name": name, "domain_id": "default"}})["project"]
    user = {"name": name, "domain_id": "default", "password": served.cloud.password_of(name)}
    identifier = make("POST", "/users", {"user": user})["user"]["id"]
    (given,) = make("GET", f"/roles?name={role}")["roles"]
    make("PUT", f"/projects/{found['id']}/users/{identifier}/roles/{given['id']}")


def create(world: ThreadedWorld, name: str, template: Any, **arguments: Any) -> str:
    """Create a stack of the user demo; return its path when the operation has ended."""
    stack = world.run(world.world.create(name, template, **arguments))
    return f"/stacks/{quote(name)}/{stack['id']}"


def hidden_fields(page: str) -> dict[str, str]:
    """Return the hidden fields of a page's forms."""
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}


def followed(browser: Browser, answer: requests.Response) -> str:
    """Return the page to which a form leads, when it does not change by itself any more."""
    assert answer.status_code == 303, answer.text
    path = answer.headers["Location"].removeprefix("/console")
    wait_until(lambda: " data-poll=" not in browser.get(path).text, path, 60)
    return browser.get(path).text
