"""The lab's cloud: found, started, and prepared with what the examples need."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import yaml
from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session

PREPARED = Path(__file__).with_name("prepared.yaml")
FOLDER_VARIABLE = "STOKER_LAB_CLOUD"
ADMINISTRATOR = "lab-admin"
HEADERS: Mapping[str, Mapping[str, str]] = {
    "messaging": {"Client-ID": "5b3f9a1e-6c1f-4c3e-9d0a-1f4f5a6b7c8d"},
    "baremetal": {"X-OpenStack-Ironic-API-Version": "1.50"},
    "sharev2": {"X-OpenStack-Manila-API-Version": "2.40"},
    "container": {"OpenStack-API-Version": "container 1.12"},
    "volumev3": {"OpenStack-API-Version": "volume 3.44"},
}
"""Headers that services require, by catalog type."""


class LabMissing(Exception):
    """There is no lab, or it does not start."""


class Account:
    """A user of the cloud in one project, which sends requests to services by their types in the catalog."""

    def __init__(self, auth: Mapping[str, str], region: str) -> None:
        self.auth, self.region = dict(auth), region
        self._session = Session(Password(**cast(dict[str, Any], self.auth)))

    def send(self, service: str, method: str, path: str, **options: Any) -> Any:
        """Return the response to a request, whatever its status."""
        options["headers"] = {**HEADERS.get(service, {}), **options.pop("headers", {})}
        where = {"service_type": service, "interface": "public", "region_name": self.region}
        if service == "identity":
            path = self.auth["auth_url"].removesuffix("/v3") + path
            where = {}
        return self._session.request(
            path, method, endpoint_filter=where or None, raise_exc=False, authenticated=True, **options
        )

    def ask(self, service: str, method: str, path: str, **options: Any) -> Any:
        """Return the body of the response. Raises LabMissing for a refusal."""
        answer = self.send(service, method, path, **options)
        if answer.status_code >= 400:
            raise LabMissing(f"{service} {method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer.json() if answer.content and "json" in answer.headers.get("Content-Type", "") else None

    @property
    def token(self) -> str:
        """A valid token."""
        return str(self._session.get_token())

    def endpoint(self, service: str) -> str:
        """Return the URL of a service in the catalog, without a slash at its end."""
        found = self._session.get_endpoint(service_type=service, interface="public", region_name=self.region)
        return str(found).rstrip("/")

    @cached_property
    def project_id(self) -> str:
        """The ID of the account's project."""
        return str(self._session.get_project_id())

    @cached_property
    def user_id(self) -> str:
        """The ID of the user."""
        return str(self._session.get_user_id())

    @cached_property
    def services(self) -> frozenset[str]:
        """The types of the services in the catalog."""
        catalog = self.ask("identity", "GET", "/v3/auth/catalog")["catalog"]
        return frozenset(entry["type"] for entry in catalog)

    @cached_property
    def network_extensions(self) -> frozenset[str]:
        """The aliases of the extensions that the network service has loaded."""
        found = self.ask("network", "GET", "/v2.0/extensions")["extensions"]
        return frozenset(extension["alias"] for extension in found)


@dataclass(frozen=True)
class Lab:
    """A running cloud: the folder of its scripts, its administrator, and what was prepared in it."""

    folder: Path
    administrator: Account
    accounts: Mapping[str, Account]
    """The users whom stacks belong to, by name."""
    ids: Mapping[str, str]
    """Name → ID of what the examples need."""

    def write_clouds(self, path: Path) -> None:
        """Write a clouds.yaml with an entry for each account."""
        clouds = {
            name: {
                "region_name": account.region,
                "identity_api_version": 3,
                "auth": {"user_domain_name": "Default", "project_domain_name": "Default"} | account.auth,
            }
            for name, account in self.accounts.items()
        }
        path.write_text(yaml.safe_dump({"clouds": clouds}), encoding="utf-8")
        path.chmod(0o600)


def found_folder(folder: Path | None) -> Path:
    """Return the folder of the lab's scripts. Raises LabMissing."""
    named = folder or (Path(os.environ[FOLDER_VARIABLE]) if os.environ.get(FOLDER_VARIABLE) else None)
    if named is None:
        raise LabMissing(f"No lab: name the folder of its scripts, with LAB=… or in {FOLDER_VARIABLE}.")
    if not (named / "clouds.yaml").is_file() or not (named / "up.sh").is_file():
        raise LabMissing(f"{named} is not the folder of a lab: it has no clouds.yaml and up.sh.")
    return named


def prepared(folder: Path, lab_path: Path = PREPARED) -> Lab:
    """Return the lab, which is set up and started if it does not answer, with the users and objects of a document.

    Raises LabMissing.
    """
    administrator = started(folder)
    document = yaml.safe_load(lab_path.read_text(encoding="utf-8"))
    accounts = {name: _account(administrator, name, user["roles"]) for name, user in document["users"].items()}
    ids = _objects({"": administrator, **accounts}, document["objects"])
    return Lab(folder, administrator, accounts, ids)


def found_administrator(folder: Path) -> Account:
    """Return the administrator of the lab, which need not run."""
    entry = yaml.safe_load((folder / "clouds.yaml").read_text(encoding="utf-8"))["clouds"][ADMINISTRATOR]
    return Account(entry["auth"], entry["region_name"])


def started(folder: Path) -> Account:
    """Return the administrator of the lab, which is set up and started if it does not answer. Raises LabMissing."""
    account = found_administrator(folder)
    if not _answers(account):
        _start(folder)
    return account


def _answers(account: Account) -> bool:
    try:
        return bool(account.services)
    except Exception:  # refused connections and logins alike: the lab is not running
        return False


def _start(folder: Path) -> None:
    for command in (["setup.sh", "--services", "all"], ["up.sh"]):
        print(f"The lab does not answer; running {' '.join(command)} in {folder}.", flush=True)
        if status := subprocess.run([str(folder / command[0]), *command[1:]], check=False).returncode:
            raise LabMissing(f"{command[0]} ended with status {status}.")


def _objects(accounts: Mapping[str, Account], declared: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Find or create what the examples need, and return the IDs by name, also those of the projects."""
    ids = {name: account.project_id for name, account in accounts.items()}
    for name, item in declared.items():
        account = accounts[item.get("account", "")]
        if item["service"] not in account.services:
            continue
        body = account.ask(item["service"], "GET", item["path"])
        found = body[item["list"]] if item["list"] else body
        matching = [one for one in found if one["name"] == name]
        made = matching[0] if matching else _created(account, item, ids)
        ids[name] = str(made.get("id") or made.get("uuid") or made["name"])
    return ids


def _created(account: Account, item: Mapping[str, Any], ids: Mapping[str, str]) -> Mapping[str, Any]:
    made: dict[str, Any] = account.ask(item["service"], "POST", item["path"], json=_filled(item["body"], ids))
    inner: Mapping[str, Any] = made[key] if isinstance(made.get(key := next(iter(item["body"]))), dict) else made
    if "content" in item:
        body, headers = bytes(item["content"]), {"Content-Type": "application/octet-stream"}
        account.ask(item["service"], "PUT", f"{item['path']}/{inner['id']}/file", data=body, headers=headers)
    return inner


def _filled(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(inner, ids) for key, inner in value.items()}
    if isinstance(value, str) and (named := re.fullmatch(r"\{(.+)\}", value)):
        return ids[named[1]]
    return value


def _account(administrator: Account, name: str, roles: list[str]) -> Account:
    """Return the user `name` in the project `name`, both created if necessary, with these roles."""
    password = administrator.auth["password"]
    project = _identity(administrator, "project", name, {"domain_id": "default"})
    user = _identity(administrator, "user", name, {"domain_id": "default", "password": password})
    for role in roles:
        found = _identity(administrator, "role", role, {})
        administrator.ask("identity", "PUT", f"/v3/projects/{project}/users/{user}/roles/{found}")
    auth = {**administrator.auth, "username": name, "project_name": name}
    return Account(auth, administrator.region)


def _identity(administrator: Account, kind: str, name: str, body: Mapping[str, Any]) -> str:
    found = administrator.ask("identity", "GET", f"/v3/{kind}s", params={"name": name})[f"{kind}s"]
    if not found:
        created = administrator.ask("identity", "POST", f"/v3/{kind}s", json={kind: {"name": name, **body}})
        found = [created[kind]]
    return str(found[0]["id"])
