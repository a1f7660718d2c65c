"""Connect to the orchestration service with the user's credentials.

The first of these that exists is used: `--os-cloud` or `OS_CLOUD` (an entry of clouds.yaml), the `OS_*` variables of
an openrc file, the embedded Stoker of the data directory.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import replace

from keystoneauth1 import adapter, exceptions, session

from stoker.cli.client.stack_client import StackClient
from stoker.cli.terminal.errors import CommandFailed
from stoker.cloud.clouds_yaml import NamedCloud, read_cloud
from stoker.cloud.named_login import plugin_loader, session_of
from stoker.processes.access import cloud_of
from stoker.processes.control import programs_of, running
from stoker.processes.directory import DataDirectory, SetUp, default_directory

_TIMEOUT_SECONDS = 120.0
_TRUE = ("1", "true", "yes", "on")


def connect(directory: DataDirectory, cloud_name: str | None = None, timeout: float = _TIMEOUT_SECONDS) -> StackClient:
    """Return the orchestration service for the credentials. Raises CommandFailed if there are none.

    `timeout` is the time in seconds that a request may take.
    """
    if cloud_name:
        return service_of(read_cloud(cloud_name), timeout)
    if os.environ.get("OS_AUTH_URL"):
        return service_of(cloud_from_environment(os.environ), timeout)
    set_up = directory.set_up()
    if set_up is None:
        raise CommandFailed(
            f"No Stoker found: there is none in {directory.path}. Start one with `stoker up`, or select a cloud "
            "with --os-cloud, OS_CLOUD or the OS_* variables."
        )
    return embedded_service(set_up, timeout)


def unreachable(error: Exception, service: StackClient, directory: DataDirectory) -> CommandFailed | None:
    """Return what to say about an error if the service could not be reached; None for other errors.

    The Stoker of the data directory is named as stopped, whichever way the command has found its address.
    """
    if not isinstance(error, exceptions.ConnectFailure | exceptions.DiscoveryFailure):
        return None
    set_up = directory.set_up()
    if set_up is not None and service.auth_url == set_up.identity:
        missing = [program for program in programs_of(directory, set_up) if running(directory, program.name) is None]
        if missing:
            option = (
                "" if directory.path == default_directory().path else f" --data-dir {shlex.quote(str(directory.path))}"
            )
            which = " and ".join(program.title for program in missing)
            return CommandFailed(f"Stoker is stopped ({which}); its data is kept. To start it: stoker up{option}")
    logging_in = f" {service.auth_url.rstrip('/')}/auth/tokens" in str(error)  # a URL with a version is not discovered
    if logging_in or isinstance(error, exceptions.DiscoveryFailure):
        return CommandFailed(f"The identity service at {service.auth_url} cannot be reached, or there is none.")
    return None


def embedded_service(set_up: SetUp, timeout: float = _TIMEOUT_SECONDS) -> StackClient:
    """Return the service of an embedded Stoker, ignoring the environment variables."""
    return service_of(replace(cloud_of(set_up), orchestration=f"{set_up.rest}/%(project_id)s"), timeout)


def embedded_session(set_up: SetUp) -> session.Session:
    """Return a session with the cloud of an embedded Stoker, ignoring the environment variables."""
    return session_of(cloud_of(set_up))


def cloud_from_environment(environment: Mapping[str, str]) -> NamedCloud:
    """Return the cloud that `OS_*` variables describe, with the names that all OpenStack clients use.

    Raises Invalid when OS_AUTH_TYPE names no plug-in of keystoneauth.
    """
    auth_type = environment.get("OS_AUTH_TYPE", "password")
    auth = {
        option.dest: value
        for option in plugin_loader(auth_type).get_options()
        if (value := environment.get(f"OS_{option.dest.upper()}"))
    }
    return NamedCloud(
        auth_type,
        auth,
        region_name=environment.get("OS_REGION_NAME"),
        interface=environment.get("OS_INTERFACE"),
        ca_file=environment.get("OS_CACERT"),
        insecure=environment.get("OS_INSECURE", "").lower() in _TRUE,
        orchestration=environment.get("OS_ORCHESTRATION_ENDPOINT_OVERRIDE"),
    )


def service_of(cloud: NamedCloud, timeout: float = _TIMEOUT_SECONDS) -> StackClient:
    """Return the orchestration service of a cloud; `timeout` is the time in seconds that a request may take."""
    return StackClient(
        adapter.Adapter(
            session_of(cloud),
            service_type="orchestration",
            interface=(cloud.interface or "public").removesuffix("URL"),
            region_name=cloud.region_name,
            endpoint_override=cloud.orchestration,
            raise_exc=False,
            connect_retries=0,
            default_microversion=None,
            additional_headers={"Accept": "application/json"},
        ),
        timeout,
        auth_url=str(cloud.auth.get("auth_url", "auth_url")),
    )
