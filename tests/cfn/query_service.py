"""The CloudFormation Query API over an engine beside an emulated cloud, and users with access keys."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import boto3
from botocore.config import Config

from openstack_emulator.testing import ServedCloud
from stoker.engine.core import Engine
from stoker.engine.plan_policies.policy import Policy
from stoker.engine.price_list import PriceList
from stoker.engine.settings import EngineSettings
from testing.harness import ThreadedWorld, api_config, serve_query

REGION = "RegionOne"

Result = TypeVar("Result")


@dataclass(frozen=True)
class Keys:
    """An access key with its secret, and whose it is."""

    access: str
    secret: str
    project_id: str
    user_id: str


class QueryService:
    """The API and its engine, as a context manager; `url` is where the API is."""

    def __init__(
        self,
        directory: Path,
        served: ServedCloud,
        prices: PriceList | None = None,
        plan_policies: tuple[Policy, ...] = (),
    ) -> None:
        self.served = served
        self._chosen: dict[str, Any] = {"prices": prices, "plan_policies": plan_policies}
        self._directory = directory

    def __enter__(self) -> QueryService:
        options: dict[str, Any] = {}
        self.world = ThreadedWorld(
            self._directory,
            self.served,
            EngineSettings(type_options=options, region_name=REGION, **self._chosen),
        )
        self.config = api_config(self._directory, self.served)
        self._server = serve_query(self.world, self.config)
        self.url = self._server.url
        options["heat_waitcondition_server_url"] = f"{self.url}/v1/waitcondition"
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.stop()
        self.world.stop()

    @property
    def engine(self) -> Engine:
        return self.world.engine

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine on the engine's loop and return its result."""
        return self.world.run(work)

    def call(self, method: str, **arguments: Any) -> Any:
        """Run an operation of the engine as the user demo. Raises what the operation raises."""
        return self.run(self.world.world.call(method, **arguments))

    # -- users -----------------------------------------------------------------------------------------------------

    def keys(self, user: str = "demo", project: str = "demo") -> Keys:
        """New keys of a seeded user."""
        token = self.served.token(user, project)
        shown = self.served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
        described = shown.json["token"]
        return self._keys(token, described["user"]["id"], described["project"]["id"])

    def restricted_keys(self, access_rules: list[dict[str, str]]) -> Keys:
        """New keys of the user demo that are limited by an application credential with these access rules."""
        token = self.served.token("demo", "demo")
        shown = self.served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
        described = shown.json["token"]
        user, project = described["user"]["id"], described["project"]["id"]
        body = {"name": f"limited-{time.monotonic_ns()}", "access_rules": access_rules}
        path = f"/users/{user}/application_credentials"
        made = self._identity(token, "POST", path, {"application_credential": body})["application_credential"]
        keys = {"access": secrets.token_hex(16), "secret": secrets.token_hex(16)}
        blob = json.dumps({**keys, "app_cred_id": made["id"]})
        credential = {"type": "ec2", "user_id": user, "project_id": project, "blob": blob}
        self._identity(token, "POST", "/credentials", {"credential": credential})
        return Keys(keys["access"], keys["secret"], project, user)

    def stranger(self) -> Keys:
        """Keys of a new user who is a member of a new project."""
        token = self.served.token("admin", "admin")
        name = f"stranger-{time.monotonic_ns()}"
        project = self._identity(token, "POST", "/projects", {"project": {"name": name}})["project"]["id"]
        user = self._identity(token, "POST", "/users", {"user": {"name": name}})["user"]["id"]
        (role,) = self._identity(token, "GET", "/roles?name=member")["roles"]
        self._identity(token, "PUT", f"/projects/{project}/users/{user}/roles/{role['id']}")
        return self._keys(token, user, project)

    def _keys(self, token: str, user_id: str, project_id: str) -> Keys:
        body = {"tenant_id": project_id}
        made = self._identity(token, "POST", f"/users/{user_id}/credentials/OS-EC2", body)["credential"]
        return Keys(made["access"], made["secret"], project_id, user_id)

    def forget(self, keys: Keys) -> None:
        """Delete keys."""
        path = f"/users/{keys.user_id}/credentials/OS-EC2/{keys.access}"
        self._identity(self.served.token("admin", "admin"), "DELETE", path)

    def _identity(self, token: str, method: str, path: str, body: Any = None) -> Any:
        answer = self.served.call(method, f"/identity/v3{path}", body, token)
        assert answer.status < 400, answer.content
        return answer.json if answer.content else None

    def client(self, keys: Keys, region: str = REGION, path: str = "/v1/", **config: Any) -> Any:
        """boto3's client, with further `config` of botocore's; it tries nothing twice."""
        return boto3.client(
            "cloudformation",
            endpoint_url=f"{self.url}{path}",
            region_name=region,
            aws_access_key_id=keys.access,
            aws_secret_access_key=keys.secret,
            config=Config(retries={"total_max_attempts": 1}, **config),
        )

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    def until(self, condition: Callable[[], Any], seconds: float = 120.0, *, interval: float = 0.02) -> Any:
        """Poll until something is the case; a long `interval` saves requests where that takes long."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, "The condition did not become true"
            time.sleep(interval)
        return found
