"""Deploys templates of the community on an embedded cloud with guests, and asks their servers.

The templates are read from a collection outside the repository; copies of them are adapted as `templates.yaml` says.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import openstack
import yaml
from openstack.config import OpenStackConfig

from openstack_emulator.guests.forwarding import local_address, local_port
from tools.conformance.place import STOKER, Place

DOCUMENT, BASE = (Path(__file__).with_name(name) for name in ("templates.yaml", "base.yaml"))
DEPLOY_SECONDS = 600.0
ANSWER_SECONDS = 120.0
PAUSE_SECONDS = 1.0
CONSOLE_CHARACTERS = 6000
USER = "debian"
"""The user of the guests' image."""


class Failed(Exception):
    """A template was not deployed, or something of it has not answered; the message says what."""


@dataclass(frozen=True)
class Case:
    """A template of the collection: see templates.yaml. name: its path there."""

    name: str
    parameters: Mapping[str, str]
    environment: str
    words: Mapping[str, str]
    files: Mapping[str, str]
    answer: str
    outputs: Mapping[str, str]
    pages: Sequence[tuple[str, str, str]]
    shells: Sequence[tuple[str, str, str]]
    urls: Sequence[tuple[str, str]]

    @property
    def stack(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", Path(self.name).stem.lower()).strip("-")


@dataclass(frozen=True)
class Document:
    """packages: what the image must contain besides the agents. parameters: for each template that declares them."""

    packages: Sequence[str]
    parameters: Mapping[str, str]
    cases: Sequence[Case]


def read_document() -> Document:
    """Read templates.yaml. Raises: LookupError for a key that it must not have."""
    read = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    cases = []
    for name, entry in read["templates"].items():
        empty: dict[str, Any] = {
            "parameters": {}, "environment": "", "words": {}, "files": {}, "outputs": {}, "pages": [], "shells": [],
            "urls": [],
        }  # fmt: skip
        if unknown := entry.keys() - empty.keys() - {"answer"}:
            raise LookupError(f"{DOCUMENT}: {name} has unknown keys: {', '.join(sorted(unknown))}")
        cases.append(Case(name, **{**empty, **entry}))
    return Document(read["packages"], read["parameters"], cases)


class Community:
    """Deploys templates of `collection`. home: a directory for the copies, which must be empty."""

    def __init__(self, place: Place, collection: Path, home: Path, common: Mapping[str, str]) -> None:
        self._place, self._collection, self._home, self._common = place, collection, home, common

    def prepare(self) -> None:
        """Create what the templates name. Raises: Failed."""
        key = self._home / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        public = key.with_suffix(".pub").read_text().strip()
        self._stoker("deploy", "base", "-t", str(BASE), "-P", f"public_key={public}", "--yes")

    def verify(self, case: Case) -> None:
        """Deploy a template, wait for what must answer, and delete the stack. Raises: Failed."""
        template, options = self._adapted(case)
        self._stoker("deploy", case.stack, "-t", str(template), *options, "--yes")
        try:
            self._compare_outputs(case)
            for output, part in case.urls:
                self._expect(case, "", partial(self._outer_page, case, output), part)
            for server, path, part in case.pages:
                self._expect(case, server, partial(self._page, case, server, path), part)
            for server, command, part in case.shells:
                self._expect(case, server, partial(self._shell, case, server, command), part)
        finally:
            self._stoker("delete", case.stack, "--yes")

    # -- adapting -----------------------------------------------------------------------------------------------------

    def _adapted(self, case: Case) -> tuple[Path, list[str]]:
        """Copy the collection, and return the path of the template in it, and the options of its deployment."""
        copy = self._home / case.stack
        shutil.copytree(self._collection, copy, copy_function=shutil.copyfile)
        for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        template = copy / case.name
        text = template.read_text(encoding="utf-8")
        for old, new in case.words.items():
            if old not in text:
                raise Failed(f"{old!r} is not in the template; adapt {DOCUMENT.name}.")
            text = text.replace(old, new)
        template.write_text(text, encoding="utf-8")
        for name, content in case.files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_text(content, encoding="utf-8")
        values = {**self._common, **case.parameters}
        declared = parameters_of(text)
        options = [word for key, value in values.items() if key in declared for word in ("-P", f"{key}={value}")]
        return template, [*options, *(["-e", str(copy / case.environment)] if case.environment else [])]

    # -- asking -------------------------------------------------------------------------------------------------------

    def _compare_outputs(self, case: Case) -> None:
        found = json.loads(self._stoker("outputs", case.stack, "-f", "json"))
        for name, part in case.outputs.items():
            if part not in str(found.get(name)):
                raise Failed(f"The output {name} is {found.get(name)}; expected {part!r} in it.")

    def _expect(self, case: Case, server: str, ask: Callable[[], str], part: str) -> None:
        """Ask until the answer contains a part. Raises: Failed."""
        end, answer = time.monotonic() + ANSWER_SECONDS, ""
        while part not in answer:
            if time.monotonic() > end:
                raise Failed(
                    f"The answer has no {part!r} after {ANSWER_SECONDS:.0f} s: {answer[-1000:]}\n"
                    f"The end of the server's console:\n{self._console(case, server)}"
                )
            time.sleep(PAUSE_SECONDS)
            answer = ask()

    def _console(self, case: Case, server: str) -> str:
        if not server:
            return "(not of one server)"
        output = self._cloud.compute.get_server_console_output(self._server(case, server))["output"]
        return str(output)[-CONSOLE_CHARACTERS:]

    def _page(self, case: Case, server: str, path: str) -> str:
        return self._fetched(self._address(case, server), path)

    def _outer_page(self, case: Case, output: str) -> str:
        """Return the page at a URL that the stack has as an output."""
        url = urlsplit(json.loads(self._stoker("outputs", case.stack, "-f", "json"))[output])
        return self._fetched(str(url.hostname), url.path)

    def _fetched(self, address: str, path: str) -> str:
        """Return the page at a path of an address of the external network."""
        url = f"http://{local_address(address)}:{local_port(80)}{path}"
        try:
            with urlopen(url, timeout=30) as answer:
                return str(answer.read().decode(errors="replace"))
        except (URLError, OSError) as error:
            return str(error)

    def _shell(self, case: Case, server: str, command: str) -> str:
        options = {
            "IdentitiesOnly": "yes", "StrictHostKeyChecking": "no", "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR", "ConnectTimeout": "10", "BatchMode": "yes",
        }  # fmt: skip
        chosen = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        login = f"{USER}@{local_address(self._address(case, server))}"
        program = ["ssh", "-F", "none", *chosen, "-i", str(self._home / "key"), "-p", str(local_port(22)), login]
        done = subprocess.run([*program, command], capture_output=True, text=True, check=False, timeout=60)
        return done.stdout + done.stderr

    def _server(self, case: Case, resource: str) -> str:
        """Return the ID of a server."""
        stack = self._cloud.orchestration.find_stack(case.stack, ignore_missing=False)
        return next(
            str(one.physical_resource_id) for one in self._cloud.orchestration.resources(stack) if one.name == resource
        )

    def _address(self, case: Case, server: str) -> str:
        """Return the floating IP of a server, which gets one if it has none."""
        [port, *_] = self._cloud.network.ports(device_id=self._server(case, server))
        found = next(iter(self._cloud.network.ips(port_id=port.id)), None)
        if found is None:
            public = self._place.networks["public"]
            found = self._cloud.network.create_ip(floating_network_id=public, port_id=port.id)
        return str(found.floating_ip_address)

    @cached_property
    def _cloud(self) -> openstack.connection.Connection:
        """A connection of the user."""
        configuration = OpenStackConfig(config_files=[str(self._place.clouds)], load_envvars=False)
        return openstack.connection.Connection(config=configuration.get_one("stoker"))

    def _stoker(self, *arguments: str) -> str:
        command = [STOKER, *arguments, "--data-dir", str(self._place.clouds.parent)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEPLOY_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"stoker {arguments[0]} has not ended within {DEPLOY_SECONDS:.0f} s.") from None
        if done.returncode != 0:
            raise Failed(f"stoker {arguments[0]}: {(done.stdout + done.stderr)[-2000:]}")
        return done.stdout


def parameters_of(text: str) -> list[str]:
    """Return the names of a template's parameters. YAML reads JSON, too."""
    read = yaml.safe_load(text)
    return list(read.get("parameters") or read.get("Parameters") or {})
