"""An embedded Stoker for the time of a run."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import openstack
from openstack.config import OpenStackConfig

STOKER = str(Path(sys.executable).with_name("stoker"))
HOST = "127.0.0.1"
HIDDEN_TAG = "hidden"
"""Stacks with this tag are left out of lists, as the suite's configuration says."""


@dataclass(frozen=True)
class Place:
    """The URL of the identity service, the file by which clients find everything, the address and port of the name
    server, and what the cloud has. `guests` says whether its servers run guests."""

    identity: str
    clouds: Path
    name_server: str
    guests: bool = False

    @property
    def cloud(self) -> str:
        """The URL of the emulated cloud, below which the services are."""
        return urlsplit(self.identity)._replace(path="", query="").geturl()

    @cached_property
    def _cloud(self) -> openstack.connection.Connection:
        """A connection of the administrator."""
        configuration = OpenStackConfig(config_files=[str(self.clouds)], load_envvars=False)
        return openstack.connection.Connection(config=configuration.get_one("stoker-admin"))

    @cached_property
    def images(self) -> dict[str, str]:
        """Name → id."""
        return {image.name: image.id for image in self._cloud.image.images()}

    @cached_property
    def networks(self) -> dict[str, str]:
        """Name → id."""
        return {network.name: network.id for network in self._cloud.network.networks()}

    def create_role(self, name: str) -> None:
        """Create a role in the identity service."""
        self._cloud.identity.create_role(name=name)

    def disable_host(self, name: str) -> None:
        """Let the compute service put no servers on a host."""
        compute = self._cloud.compute
        for service in compute.services(host=name, binary="nova-compute"):
            compute.disable_service(service)


@contextmanager
def embedded(home: Path, guest_image: str = "") -> Iterator[Place]:
    """A Stoker and its emulated cloud on free ports, with their data and logs in `home`; stopped in the end.

    With a `guest_image`, its servers run guests of this image.
    """
    data = home / "data"
    settings = home / "stoker.conf"
    settings.write_text(f"[DEFAULT]\nhidden_stack_tags = {HIDDEN_TAG}\n")
    dns_port = _free_port()
    ports = {"api": 0, "cfn": 0, "cloud": 0, "dns": dns_port}
    chosen = [word for name, port in ports.items() for word in (f"--{name}-port", str(port))]
    if guest_image:
        chosen += ["--guests", "namespace", "--guest-image", guest_image]
    try:
        _stoker("up", "--detach", "--data-dir", str(data), "--config-file", str(settings), *chosen)
        addresses = json.loads((data / "endpoints.json").read_text())
        yield Place(addresses["identity"], data / "clouds.yaml", f"{HOST}:{dns_port}", bool(guest_image))
    finally:
        _stoker("down", "--data-dir", str(data))


def _free_port() -> int:
    """A port on which nothing listens now, over TCP and UDP."""
    while True:
        with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
            stream.bind((HOST, 0))
            port = int(stream.getsockname()[1])
            try:
                datagrams.bind((HOST, port))
            except OSError:
                continue
            return port


def _stoker(*arguments: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_"))}
    subprocess.run([STOKER, *arguments], check=True, env=kept, stdout=subprocess.DEVNULL)
