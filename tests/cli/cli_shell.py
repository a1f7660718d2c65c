"""A user at a shell with a data directory."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import openstack as sdk
from openstack.config import OpenStackConfig

from testing import forked_commands, forked_program
from testing.forked_program import ForkedProgram, PipedProgram

BIN = Path(sys.executable).parent
BATCH = "tests.cli.openstack_batch"
EXAMPLES = Path(__file__).parents[2] / "examples"

ANY_PORTS = ("--api-port", "0", "--cfn-port", "0", "--cloud-port", "0")


def clean_environment(home: Path) -> dict[str, str]:
    """This process's environment without anything that would lead a client to some cloud."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_", "XDG_"))}
    return {**kept, "HOME": str(home), "COLUMNS": "200", "NO_COLOR": "1"}


NONE: Mapping[str, str] = MappingProxyType({})


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Forked:
    """A command that is forked: its distribution and function, and what most of its runs import."""

    distribution: str
    function: str
    imports: Sequence[str]


OPENSTACK_IMPORTS = ("testing.openstack_client_modules",)

COMMANDS = {
    "openstack": Forked("openstackclient", "openstackclient.shell:main", OPENSTACK_IMPORTS),
    "stoker": Forked(
        forked_program.STOKER,
        "stoker.cli.main:main",
        (
            "rich.live",
            "rich.table",
            "stoker.cli.client.connection",
            "stoker.cli.commands.approvals",
            "stoker.cli.commands.deploy",
            "stoker.cli.commands.deployment",
            "stoker.cli.commands.generate",
            "stoker.cli.commands.local",
            "stoker.cli.commands.logs",
            "stoker.cli.commands.stacks",
            "stoker.cli.main",
            "stoker.cli.views.follow",
            "stoker.cli.views.plans",
        ),
    ),
}


def install_commands(directory: Path) -> Path:
    """Write these commands to a directory, for shells that have it in their PATH; return it."""
    for name, forked in COMMANDS.items():
        forked_commands.install(directory / name, forked.function, forked.imports, forked.distribution)
    return directory


def changes_interpreter(variables: Mapping[str, str]) -> bool:
    """Whether an interpreter reads some of the variables when it starts."""
    return any(name.startswith(("PYTHON", "LC_", "LANG")) for name in variables)


@dataclass
class Shell:
    """Runs commands as a user with a data directory would; `variables` extend the environment of one command.

    imports: an interpreter starts each command, for tests of the start, and of where modules come from.
    """

    directory: Path
    environment: dict[str, str]
    imports: bool = False

    def run(self, program: str, *arguments: str, timeout: float = 60.0, variables: Mapping[str, str] = NONE) -> Result:
        command, place, environment = (
            [str(BIN / program), *arguments],
            self.directory.parent,
            {**self.environment, **variables},
        )
        forked = COMMANDS.get(program)
        if forked is not None and not self.imports and not changes_interpreter(variables):
            done = forked_program.run(
                forked.function,
                command,
                imports=forked.imports,
                environment=environment,
                directory=place,
                distribution=forked.distribution,
                timeout=timeout,
            )
        else:
            done = subprocess.run(
                command,
                env=environment,
                cwd=place,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout,
            )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def start(
        self, *arguments: str, variables: Mapping[str, str] = NONE, directory: Path | None = None
    ) -> PipedProgram:
        """Start the command `stoker`; what it prints is read while it runs. To be used in a `with`."""
        return PipedProgram(
            COMMANDS["stoker"].function,
            [str(BIN / "stoker"), *arguments],
            imports=COMMANDS["stoker"].imports,
            environment={**self.environment, **variables},
            directory=directory or self.directory.parent,
        )

    def stoker(self, *arguments: str, timeout: float = 60.0, variables: Mapping[str, str] = NONE) -> Result:
        return self.run("stoker", *arguments, timeout=timeout, variables=variables)

    def ok(self, *arguments: str, timeout: float = 60.0, variables: Mapping[str, str] = NONE) -> Result:
        result = self.stoker(*arguments, timeout=timeout, variables=variables)
        assert result.status == 0, result.out + result.err
        return result

    def fails(self, *arguments: str, timeout: float = 60.0, variables: Mapping[str, str] = NONE) -> str:
        """The message of a command that must fail."""
        result = self.stoker(*arguments, timeout=timeout, variables=variables)
        assert result.status == 1, result.out + result.err
        return result.err

    def openstack(self, *arguments: str, timeout: float = 60.0) -> Result:
        """The openstack client, set up by the files that `up` writes."""
        files = {"OS_CLIENT_CONFIG_FILE": str(self.directory / "clouds.yaml"), "OS_CLOUD": "stoker"}
        result = self.run("openstack", *arguments, timeout=timeout, variables=files)
        assert result.status == 0, result.out + result.err
        return result

    def kill(self, *programs: str) -> None:
        """Kill programs of Stoker, and wait until they are gone: each holds a lock on the file with its process ID."""
        for program in programs:
            with (self.directory / f"{program}.pid").open() as file:
                os.kill(int(file.read()), signal.SIGKILL)
                fcntl.flock(file, fcntl.LOCK_SH)

    def endpoints(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.directory / "endpoints.json").read_text())
        return found


def shell_in(path: Path) -> Shell:
    directory = path / "data"
    return Shell(directory, {**clean_environment(path), "STOKER_DATA_DIR": str(directory)})


class OpenStack:
    """OpenStack's client, kept running from one command to the next. To be used in a `with`."""

    def __init__(self, shell: Shell, cloud: str = "stoker") -> None:
        files = {"OS_CLIENT_CONFIG_FILE": str(shell.directory / "clouds.yaml"), "OS_CLOUD": cloud}
        environment = {**shell.environment, **files}
        reading, writing = os.pipe()
        answered, answering = os.pipe()
        self._commands, self._answers = os.fdopen(writing, "w"), os.fdopen(answered)
        with os.fdopen(reading) as stdin, os.fdopen(answering, "w") as stdout:
            self._process = ForkedProgram(
                BATCH,
                ["-m"],
                imports=OPENSTACK_IMPORTS,
                stdin=stdin,
                stdout=stdout,
                stderr=2,
                environment=environment,
                distribution=COMMANDS["openstack"].distribution,
            )

    def __enter__(self) -> OpenStack:
        return self

    def __exit__(self, *_: object) -> None:
        self._commands.close()
        self._answers.close()
        self._process.wait()

    def __call__(self, command: str) -> Any:
        """What a command prints, read when it is asked for JSON; it must succeed."""
        return self.run(*shlex.split(command))

    def run(self, *arguments: str) -> Any:
        """The same for a command that is given as its arguments."""
        print(json.dumps(arguments), file=self._commands, flush=True)
        result = json.loads(self._answers.readline())
        assert result["status"] == 0, f"{shlex.join(arguments)}: {result['err']}"
        return json.loads(result["out"]) if arguments[-2:] == ("-f", "json") else result["out"]


def openstack(shell: Shell, *commands: str, cloud: str = "stoker") -> list[Any]:
    """What commands print, each as `OpenStack` answers it."""
    with OpenStack(shell, cloud) as client:
        return [client(command) for command in commands]


def sdk_connection(shell: Shell) -> Any:
    """openstacksdk, set up by the files that `up` writes."""
    config = OpenStackConfig(config_files=[str(shell.directory / "clouds.yaml")], load_envvars=False)
    return sdk.connection.Connection(config=config.get_one(cloud="stoker"))
