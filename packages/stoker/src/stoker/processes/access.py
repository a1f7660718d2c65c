"""The files for clients of an embedded Stoker: `openrc`, `openrc-admin`, `clouds.yaml` and `awsrc`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.base.errors import StokerError
from stoker.cloud.clouds_yaml import NamedCloud, read_cloud
from stoker.processes.directory import DataDirectory, SetUp, write_private
from stoker.processes.local_addresses import IDENTITY_PATH, LOCAL_USER

REGION = "RegionOne"
_USERS = {"stoker": ("demo", "openrc"), "stoker-admin": ("admin", "openrc-admin")}
"""Name in clouds.yaml → user and project, file for the shell."""
_DEMO, _ = _USERS["stoker"]
_SECONDS = 30
"""The time in seconds that a request to the emulated cloud may take."""


def login(user: str, set_up: SetUp) -> dict[str, str]:
    """Return the login of a user of the emulated cloud, in the format of clouds.yaml."""
    return {
        "auth_url": set_up.identity,
        "username": user,
        "password": set_up.password_of(user),
        "project_name": user,
        "user_domain_name": "Default",
        "project_domain_name": "Default",
    }


def cloud_of(set_up: SetUp) -> NamedCloud:
    """Return the login for the set-up: the emulated cloud's ordinary user, or the user's own entry.

    Raises Invalid when clouds.yaml no longer has the entry.
    """
    if set_up.cloud is not None:
        return read_cloud(set_up.cloud)
    return NamedCloud("password", login(_DEMO, set_up), region_name=REGION, interface="public")


def write_access_files(directory: DataDirectory, set_up: SetUp) -> None:
    """Write the files for clients, readable only by their owner. Raises Invalid like `cloud_of`.

    A real cloud's catalog does not contain this Stoker; therefore the login is at Stoker's own identity service, with
    a password that is valid only there (see `local_identity`).
    """
    if set_up.cloud is not None:
        auth = {
            "auth_url": set_up.rest.removesuffix("/v1") + IDENTITY_PATH + "/v3",
            "username": LOCAL_USER,
            "password": directory.local_password(),
            "user_domain_name": "Default",
        }
        _write_clouds(directory, {"stoker": _entry(replace(cloud_of(set_up), auth_type="password", auth=auth))})
        return
    clouds: dict[str, Any] = {}
    for name, (user, file_name) in _USERS.items():
        auth = login(user, set_up)
        clouds[name] = _entry(NamedCloud("password", auth, region_name=REGION, interface="public"))
        write_private(directory.path / file_name, _openrc(auth))
    system = {**_without_project(clouds["stoker-admin"]["auth"]), "system_scope": "all"}
    clouds["stoker-system"] = {**clouds["stoker-admin"], "auth": system}
    _write_clouds(directory, clouds)


def _without_project(auth: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in auth.items() if not name.startswith("project_")}


def _entry(cloud: NamedCloud) -> dict[str, object]:
    entry = {
        "auth_type": cloud.auth_type,
        "auth": dict(cloud.auth),
        "region_name": cloud.region_name,
        "interface": cloud.interface,
        "cacert": cloud.ca_file,
        "verify": False if cloud.insecure else None,
        "identity_api_version": 3,
    }
    return {key: value for key, value in entry.items() if value is not None}


def _write_clouds(directory: DataDirectory, clouds: Mapping[str, object]) -> None:
    import yaml

    write_private(directory.path / "clouds.yaml", yaml.safe_dump({"clouds": clouds}, sort_keys=False))


def _openrc(auth: Mapping[str, str]) -> str:
    values = {
        **{f"OS_{name.upper()}": value for name, value in auth.items()},
        "OS_AUTH_TYPE": "password",
        "OS_IDENTITY_API_VERSION": "3",
        "OS_REGION_NAME": REGION,
        "OS_INTERFACE": "public",
    }
    return "unset OS_CLOUD\n" + "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items())


def write_aws_file(directory: DataDirectory, set_up: SetUp) -> None:
    """Write `awsrc`, with an access key of the emulated cloud's ordinary user, who gets one if there is none.

    The cloud must be running. Raises StokerError if it does not answer as expected.
    """
    try:
        key = _access_key(set_up)
    except (OSError, ValueError, KeyError) as error:
        raise StokerError(f"The emulated cloud gives no access key for AWS's clients: {error}") from error
    values = {
        "AWS_ACCESS_KEY_ID": key["access"],
        "AWS_SECRET_ACCESS_KEY": key["secret"],
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL_CLOUDFORMATION": set_up.cfn,
    }
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items())
    write_private(directory.path / "awsrc", f"unset AWS_PROFILE AWS_SESSION_TOKEN\n{exports}")


def _access_key(set_up: SetUp) -> Mapping[str, Any]:
    """Return an access key of the ordinary user. keystoneauth would do, but importing it takes longer than all else."""
    user = {"name": _DEMO, "password": set_up.password_of(_DEMO), "domain": {"name": "Default"}}
    scope = {"project": {"name": _DEMO, "domain": {"name": "Default"}}}
    auth = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
    token, answer = _request(f"{set_up.identity}/auth/tokens", auth)
    owner, project = answer["token"]["user"]["id"], answer["token"]["project"]["id"]
    url = f"{set_up.identity}/users/{owner}/credentials/OS-EC2"
    known = [key for key in _request(url, token=token)[1]["credentials"] if key["tenant_id"] == project]
    key: Mapping[str, object] = known[0] if known else _request(url, {"tenant_id": project}, token)[1]["credential"]
    return key


def _request(url: str, body: object = None, token: str = "") -> tuple[str, Any]:
    """Return the token and the data in the answer of the emulated cloud to a GET, or to a POST of `body`.

    Raises OSError without a good answer, ValueError for one that is not JSON.
    """
    import json
    from urllib.request import Request, urlopen

    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json", "X-Auth-Token": token})  # noqa: S310
    with urlopen(request, timeout=_SECONDS) as response:  # noqa: S310  the emulated cloud's own loopback URL
        return response.headers.get("X-Subject-Token", ""), json.load(response)
