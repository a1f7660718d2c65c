"""The Query API over a real engine beside an emulated cloud, and users with access keys."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config

from stoker.api.cfn.app import make_cfn_app
from stoker.api.server import Server
from stoker.base.clock import SystemClock
from stoker.base.config import load_config
from stoker.cloud.auth import CloudPool
from stoker.cloud.settings import CloudSettings
from stoker.emulator.testing import ServedCloud
from stoker.engine.core import Engine
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.plugins.registry import Registry
from stoker.rpc.direct import DirectClient
from stoker.rpc.dispatch import Dispatcher
from stoker.store.database import Database
from stoker.store.journal import Journal
from stoker.store.sealing import Sealer

REGION = "RegionOne"
SEALING_KEY = "k" * 32

SETTINGS = """
[DEFAULT]
region_name_for_services = RegionOne
[keystone_authtoken]
auth_type = password
auth_url = {url}/identity/v3
username = heat
password = secret
project_name = service
user_domain_id = default
project_domain_id = default
"""


@dataclass(frozen=True)
class Keys:
    """An access key with its secret, and whose it is."""

    access: str
    secret: str
    project_id: str
    user_id: str


class QueryWorld:
    """Context manager; `url` is where the Query API is."""

    def __init__(self, directory: Path, served: ServedCloud) -> None:
        self.served = served
        self._directory = directory
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self) -> QueryWorld:
        self._thread.start()
        options: dict[str, Any] = {}
        self.engine: Engine = self.run(self._start(options))
        settings = self._directory / "heat.conf"
        settings.write_text(SETTINGS.format(url=self.served.url))
        self.config = load_config([], [str(settings)])
        client = DirectClient(self.loop, Dispatcher(self.engine, OPERATIONS))
        self._server = Server(make_cfn_app(self.config, client), "127.0.0.1", 0)
        self._server.start()
        self.url = self._server.url
        options["heat_waitcondition_server_url"] = f"{self.url}/v1/waitcondition"
        return self

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    async def _start(self, options: dict[str, Any]) -> Engine:
        clock = SystemClock()
        self._database = Database(f"sqlite:///{self._directory / 'stoker.db'}")
        self._database.migrate()
        self._journal = Journal(self._database)
        self._pool = CloudPool(
            CloudSettings(
                auth_url=f"{self.served.url}/identity",
                username="heat",
                password="secret",
                project_name="service",
                stack_user_domain_name="heat",
                stack_domain_admin="heat_domain_admin",
                stack_domain_admin_password="secret",
            ),
            clock,
        )
        engine = Engine(
            database=self._database,
            journal=self._journal,
            sealer=Sealer([SEALING_KEY]),
            registry=Registry.from_entry_points(options),
            pool=self._pool,
            clock=clock,
            settings=EngineSettings(type_options=options, region_name=REGION),
        )
        await engine.start(alone=True)
        return engine

    def __exit__(self, *failure: object) -> None:
        self._server.stop()

        async def stop() -> None:
            await self.engine.stop()
            self._journal.close()
            await self._pool.close()
            self._database.close()

        self.run(stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    # -- users -----------------------------------------------------------------------------------------------------

    def keys(self, user: str = "demo", project: str = "demo") -> Keys:
        """New keys of a seeded user."""
        token = self.served.token(user, project)
        shown = self.served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
        described = shown.json["token"]
        return self._keys(token, described["user"]["id"], described["project"]["id"])

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

    def until(self, condition: Callable[[], Any], seconds: float = 120.0) -> Any:
        """Poll until something is the case."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, "it never came to be"
            time.sleep(0.02)
        return found
