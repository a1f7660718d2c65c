"""The process that holds the network namespaces of a cloud: it makes them, and runs commands in them.

It runs in a user namespace of its own, in which those of the guests are made, so that it may connect guests' networks
with others without privileges on this machine. It ends with the cloud, and the namespaces end with it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import orjson

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.guests.ids import IdMaps
from openstack_emulator.guests.launching import HINT, READY, control_sockets, find_program, received, task_command

DONE = b"done"
TOOLS = {"ip": "iproute2", "nft": "nftables"}
"""The commands that networks need, with their packages."""
ORDER_SECONDS = 30.0
BRIDGE, INET = "bridge", "inet"
_TRACKED = (
    "table {} probe {{\n chain passing {{ type filter hook forward priority 0; ct state established accept; }}\n}}\n"
)


class NetworkFailed(Exception):
    """A network of guests could not be made or changed; the message says why."""


def find_tools() -> dict[str, str]:
    """Return the paths of the commands. Raises: GuestsUnavailable if one is missing."""
    found = {name: find_program(name) for name in TOOLS}
    if missing := [name for name, path in found.items() if path is None]:
        packages = " ".join(TOOLS[name] for name in missing)
        raise GuestsUnavailable(
            f"The networks of guests need {' and '.join(f'`{name}`' for name in missing)}. On Debian and Ubuntu, "
            f"`apt-get install {packages}` installs what is missing. `--guests none` starts a cloud without guests."
        )
    return {name: str(path) for name, path in found.items()}


class NamespaceProcess:
    """The cloud's end. Orders are carried out one after the other.

    family: the family of nftables in which connections between guests of a network are tracked: `bridge`, or `inet`
    where the kernel tracks them as it does those that it routes (module `br_netfilter`).

    volumes: the directory of the contents of volumes.

    Raises: GuestsUnavailable if this machine does not allow it.
    """

    def __init__(self, ids: IdMaps, volumes: Path) -> None:
        self._tools = find_tools()
        self._control, inside = control_sockets()
        self._control.settimeout(ORDER_SECONDS)
        self._unanswered = 0
        with inside:
            command = task_command("networks", ids.outer(), volumes, control=inside.fileno())
            self._process = subprocess.Popen(  # noqa: S603  this interpreter and Stoker's program
                command, pass_fds=[inside.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )
        message, descriptors = received(self._control)
        if message != READY:
            reason = message.decode(errors="replace") or f"its process ended with status {self._process.wait()}"
            self.close()
            raise GuestsUnavailable(f"Networks of guests cannot be made on this machine: {reason}. {HINT}")
        self.users = descriptors[0]
        self._pool = ThreadPoolExecutor(1, "guest-networks")
        try:
            self.family = self._tracking_family()
        except (NetworkFailed, OSError) as error:
            self.close()
            raise GuestsUnavailable(f"Networks of guests cannot be made on this machine: {error}. {HINT}") from error

    def close(self) -> None:
        """End the process, and with it the namespaces that no guest uses."""
        self._control.close()
        self._process.wait()
        if hasattr(self, "users"):
            os.close(self.users)
            self._pool.shutdown()

    async def order(self, do: str, name: str, /, *descriptors: int, **arguments: object) -> list[int]:
        """Have an order carried out (the methods of `launch.Networks`), and return the descriptors of the answer.

        Raises: NetworkFailed.
        """
        act = partial(self._order, do, name, *descriptors, **arguments)
        answer = asyncio.get_running_loop().run_in_executor(self._pool, act)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            answer.add_done_callback(_drop_descriptors)  # the order is carried out nevertheless
            raise

    async def run(self, name: str, tool: str, arguments: Sequence[str], text: str) -> None:
        """Run a command in a namespace with this input. Raises: NetworkFailed."""
        await asyncio.get_running_loop().run_in_executor(self._pool, self._run, name, tool, arguments, text)

    def _run(self, name: str, tool: str, arguments: Sequence[str], text: str) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(text.encode())
            file.flush()
            self._order("run", name, file.fileno(), command=[self._tools[tool], *arguments])

    def _order(self, do: str, name: str, /, *descriptors: int, **arguments: object) -> list[int]:
        sent = orjson.dumps({"do": do, "name": name, **arguments})
        try:
            socket.send_fds(self._control, [sent], descriptors)
            self._unanswered += 1
            message, found = self._answer()
        except OSError as error:
            raise NetworkFailed(f"The process that holds the networks of guests does not answer: {error}") from error
        if message != DONE:
            reason = message.decode(errors="replace") or "the process that holds the networks has ended"
            raise NetworkFailed(reason)
        return found

    def _answer(self) -> tuple[bytes, list[int]]:
        """Return the answer to the last order; those to previous ones, which took too long, are dropped."""
        while True:
            message, found = received(self._control)
            self._unanswered -= 1
            if not message or self._unanswered == 0:
                return message, found
            for descriptor in found:
                os.close(descriptor)

    def _tracking_family(self) -> str:
        """Try what networks need, and return the family in which connections through bridges are tracked."""
        self._order("make", "probe")
        self._run("probe", "ip", ["-batch", "-"], "link add name probe type bridge\nlink set probe up\n")
        try:
            self._run("probe", "nft", ["-f", "-"], _TRACKED.format(BRIDGE))
        except NetworkFailed:
            self._run("probe", "nft", ["-f", "-"], _TRACKED.format(INET))
            self._order("write", "probe", files=TRACKED_BRIDGES)
            return INET
        finally:
            self._order("drop", "probe")
        return BRIDGE


def _drop_descriptors(answer: asyncio.Future[list[int]]) -> None:
    if not answer.cancelled() and answer.exception() is None:
        for descriptor in answer.result():
            os.close(descriptor)


TRACKED_BRIDGES: Mapping[str, str] = {
    "bridge/bridge-nf-call-iptables": "1",
    "bridge/bridge-nf-call-ip6tables": "1",
    "bridge/bridge-nf-call-arptables": "0",
}
"""Settings by which the rules of the family `inet` apply to what a bridge passes on."""
