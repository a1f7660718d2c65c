"""The command line of `stoker.processes.embedded`: written by what starts the process, and read by the process."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from stoker.processes.directory import DataDirectory
from stoker_foundation.readiness import add_ready_option


@dataclass(frozen=True, slots=True)
class Options:
    """The command-line options of the process.

    `identity` is the URL of the emulated cloud's Keystone; with `cloud`, an entry of clouds.yaml, it is not used.
    `config_files` have heat.conf's format and override the defaults of an embedded Stoker. `ready_fd` is the file for
    `report_ready`. With a `trial`, the root of a tree of stacks, the process runs the suspects of that tree only,
    beside the one that started it (see `isolation`). With `reader_fd`, an open file, it serves reads that arrive there
    (see `readers`).
    """

    directory: DataDirectory
    api_port: int
    cfn_port: int
    identity: str
    cloud: str | None = None
    config_files: tuple[str, ...] = ()
    ready_fd: int | None = None
    trial: str | None = None
    reader_fd: int | None = None

    @classmethod
    def parsed(cls, arguments: list[str] | None) -> Self:
        """Return the options in the arguments of the command; None for those of this process."""
        parser = argparse.ArgumentParser(prog="stoker.processes.embedded", description="An engine and the API.")
        parser.add_argument("--data-dir", type=Path, required=True, help="directory of the database")
        parser.add_argument("--api-port", type=int, required=True, help="port of the REST API")
        parser.add_argument("--cfn-port", type=int, required=True, help="port of the CloudFormation interface")
        parser.add_argument("--identity", default="", help="URL of the emulated cloud's identity service")
        parser.add_argument("--cloud", help="entry of clouds.yaml to use instead of the emulated cloud")
        parser.add_argument("--config-file", action="append", default=[], help="file in heat.conf's format")
        parser.add_argument("--trial", help="root stack of a tree: run only the operations that may crash engines")
        parser.add_argument("--reader-fd", type=int, help="open file on which reads arrive: serve nothing else")
        add_ready_option(parser)
        given = parser.parse_args(arguments)
        return cls(
            directory=DataDirectory(given.data_dir),
            api_port=given.api_port,
            cfn_port=given.cfn_port,
            identity=given.identity,
            cloud=given.cloud,
            config_files=tuple(given.config_file),
            ready_fd=given.ready_fd,
            trial=given.trial,
            reader_fd=given.reader_fd,
        )

    def arguments(self) -> list[str]:
        """Return the arguments of the interpreter that start this process, or one for `--trial` beside it."""
        words = ["-m", "stoker_foundation.program", "stoker.processes.embedded", "--data-dir", str(self.directory.path)]
        words += ["--api-port", str(self.api_port), "--cfn-port", str(self.cfn_port)]
        words += [word for file in self.config_files for word in ("--config-file", file)]
        return [*words, *(["--cloud", self.cloud] if self.cloud else ["--identity", self.identity])]

    def for_reader(self) -> list[str]:
        """Return the same for a process that serves reads; the number of an open file follows."""
        return [*self.arguments(), "--reader-fd"]
