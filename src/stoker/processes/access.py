"""The files for clients of an embedded Stoker: `openrc`, `openrc-admin`, `clouds.yaml` and `awsrc`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.cloud.clouds_yaml import NamedCloud, read_cloud
from stoker.processes.directory import DataDirectory, SetUp, write_private
from stoker.processes.local_addresses import IDENTITY_PATH, LOCAL_USER

REGION = "RegionOne"
_USERS = {"stoker": ("demo", "openrc"), "stoker-admin": ("admin", "openrc-admin")}
"""Name in clouds.yaml → user and project, file for the shell."""


def login(user: str, identity: str) -> dict[str, str]:
    """Return the login of a user of the emulated cloud, in the format of clouds.yaml."""
    return {
        "auth_url": identity,
        "username": user,
        "password": "secret",
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
    user, _ = _USERS["stoker"]
    return NamedCloud("password", login(user, set_up.identity), region_name=REGION, interface="public")


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
        auth = login(user, set_up.identity)
        clouds[name] = _entry(NamedCloud("password", auth, region_name=REGION, interface="public"))
        write_private(directory.path / file_name, _openrc(auth))
    _write_clouds(directory, clouds)


def _entry(cloud: NamedCloud) -> dict[str, Any]:
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


def _write_clouds(directory: DataDirectory, clouds: Mapping[str, Any]) -> None:
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

    The cloud must be running. Raises the errors of keystoneauth1.
    """
    from stoker.cloud.named_login import session_of

    session = session_of(cloud_of(set_up))
    url, project = f"{set_up.identity}/users/{session.get_user_id()}/credentials/OS-EC2", session.get_project_id()
    known = [key for key in session.get(url).json()["credentials"] if key["tenant_id"] == project]
    key = known[0] if known else session.post(url, json={"tenant_id": project}).json()["credential"]
    values = {
        "AWS_ACCESS_KEY_ID": key["access"],
        "AWS_SECRET_ACCESS_KEY": key["secret"],
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL_CLOUDFORMATION": set_up.cfn,
    }
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items())
    write_private(directory.path / "awsrc", f"unset AWS_PROFILE AWS_SESSION_TOKEN\n{exports}")
