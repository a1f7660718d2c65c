"""A public test suite: its description in `suites/NAME.yaml`, its configuration, its run, and its results."""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from testing.environments import unpacked
from tools.conformance.installed import HERE
from tools.conformance.place import HIDDEN_TAG, Place
from tools.conformance.report import Result

SUITES = HERE / "suites"
_READER = HERE / "read_results.py"
FLOATING_IPS = HERE / "floating_ips"
"""What lets the tests' processes connect to floating IPs of guests."""
_CLASS = re.compile(r"setUpClass \((.*)\)")

Sections = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class CannotRun:
    """Why tests cannot run here: `tests` are regular expressions for their names. With `needs_guests`, they can where
    servers run guests."""

    reason: str
    tests: list[str]
    needs_guests: bool = False

    def covers(self, test: str) -> bool:
        return any(re.search(pattern, test) for pattern in self.tests)


@dataclass(frozen=True, slots=True)
class WithGuests:
    """What is different where servers run guests: the parts that use them, options, and the tests that cannot run."""

    parts: list[str]
    configuration: dict[str, dict[str, Any]] = field(default_factory=dict)
    cannot_run: list[CannotRun] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Suite:
    """The public test suite of a service.

    `parts` has a regular expression for the tests of each part; `roles` exist before the run, as DevStack's plug-in for
    the service creates them, and the compute hosts in `disabled_hosts` are not used; `workers` is how many processes
    run its tests side by side, None for one per processor. `configuration` has the options that are not the same for
    every suite, and `environment` the variables of its processes; in both, `{identity}`, `{cloud}`, `{name_server}`,
    `{sources}`, `{hidden_tag}`, `{image[NAME]}` and `{network[NAME]}` are replaced. `guests` is None if no part of it
    logs in to servers.
    """

    name: str
    parts: dict[str, str]
    configuration: dict[str, dict[str, Any]]
    environment: dict[str, str] = field(default_factory=dict)
    roles: list[str] = field(default_factory=list)
    disabled_hosts: list[str] = field(default_factory=list)
    workers: int | None = None
    cannot_run: list[CannotRun] = field(default_factory=list)
    guests: WithGuests | None = None
    on_guests: bool = False

    @property
    def title(self) -> str:
        """The name of its results: those on servers with guests have one of their own."""
        return f"{self.name}-guests" if self.on_guests else self.name

    @classmethod
    def read(cls, name: str) -> Suite:
        """The suite of a service. Raises OSError if there is none."""
        described = yaml.safe_load((SUITES / f"{name}.yaml").read_text())
        guests = described.pop("guests", None)
        return cls(
            name,
            cannot_run=_cannot_run(described),
            guests=WithGuests(cannot_run=_cannot_run(guests), **guests) if guests else None,
            **described,
        )

    def with_guests(self) -> Suite:
        """The suite as it runs on servers with guests. Raises LookupError if it has no tests for them."""
        if self.guests is None:
            raise LookupError(f"no part of the suite {self.name} uses guests")
        own = self.guests.configuration
        return replace(
            self,
            parts={part: self.parts[part] for part in self.guests.parts},
            configuration={
                section: self.configuration.get(section, {}) | own.get(section, {})
                for section in self.configuration | own
            },
            cannot_run=[item for item in self.cannot_run if not item.needs_guests] + self.guests.cannot_run,
            on_guests=True,
        )

    def part(self, test: str) -> str:
        """The part that a test belongs to. Raises LookupError if it belongs to none."""
        return next(part for part, pattern in self.parts.items() if re.match(pattern, test))


def _cannot_run(described: dict[str, Any] | None) -> list[CannotRun]:
    """Take the tests that cannot run out of a description."""
    return [CannotRun(**item) for item in (described or {}).pop("cannot_run", [])]


def names() -> list[str]:
    """The services that have a suite."""
    return sorted(path.stem for path in SUITES.glob("*.yaml"))


def run(
    suite: Suite, programs: Path, place: Place, home: Path, parts: Sequence[str], workers: int, tests: str = ""
) -> list[Result]:
    """Run parts of a suite, and return the results in the order of the tests' names.

    Of each part, only the tests whose names match the regular expression `tests`. A test that cannot run here has been
    skipped; a test whose class could not be set up has the class's result.
    """
    workspace = home / "tempest"
    environment = {
        "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(home),
    }
    values = _values(programs, place)
    environment |= {name: value.format_map(values) for name, value in suite.environment.items()}
    if place.guests:
        environment["PYTHONPATH"] = str(FLOATING_IPS)
        environment["PATH"] = os.pathsep.join([str(FLOATING_IPS), environment["PATH"]])
    for role in suite.roles:
        place.create_role(role)
    for host in suite.disabled_hosts:
        place.disable_host(host)
    subprocess.run([programs / "tempest", "init", workspace], check=True, env=environment, stderr=subprocess.DEVNULL)
    _write(configuration(suite, place, workspace, values), workspace / "etc" / "tempest.conf")
    command = [str(programs / "tempest"), "run"]
    chosen = ["--regex", f"^({'|'.join(suite.parts[part] for part in parts)})\\..*({tests})"]
    listing = subprocess.run(
        [*command, "--list-tests", *chosen], check=True, cwd=workspace, env=environment, capture_output=True, text=True
    )
    known = [line for line in listing.stdout.splitlines() if re.match(chosen[1], line)]
    excluded = home / "excluded.txt"
    excluded.write_text("".join(f"{pattern}\n" for item in suite.cannot_run for pattern in item.tests))
    stream = home / "results.subunit"
    options = ["--subunit", *chosen, "--exclude-list", str(excluded), "--concurrency", str(workers)]
    with stream.open("wb") as output, (home / "tempest.log").open("wb") as log:
        subprocess.run([*command, *options], check=False, cwd=workspace, env=environment, stdout=output, stderr=log)
    read = [str(path) for path in (programs / "python", _READER, stream)]
    found = json.loads(subprocess.run(read, check=True, capture_output=True, env=environment).stdout)
    return results(suite, known, [Result(**item) for item in found])


def results(suite: Suite, known: Iterable[str], found: Iterable[Result]) -> list[Result]:
    """How each known test ended, from what the suite's run found."""
    ended = {_class(result.test) or result.test: result for result in found}
    return [_result(suite, test, ended) for test in sorted(known)]


def _result(suite: Suite, test: str, ended: Mapping[str, Result]) -> Result:
    for item in suite.cannot_run:
        if item.covers(test):
            return Result(test, "skip", item.reason)
    if result := ended.get(test) or ended.get(test.split("[")[0].rpartition(".")[0]):
        return Result(test, result.status, result.reason)
    return Result(test, "fail", "The run has no result for this test.")


def _class(test: str) -> str:
    """The class of a result that stands for all of its tests, or an empty string."""
    match = _CLASS.match(test)
    return match[1] if match else ""


def _values(programs: Path, place: Place) -> dict[str, Any]:
    """What the descriptions of suites refer to."""
    return {
        "identity": place.identity,
        "cloud": place.cloud,
        "name_server": place.name_server,
        "sources": unpacked(programs),
        "hidden_tag": HIDDEN_TAG,
        "image": place.images,
        "network": place.networks,
    }


def configuration(suite: Suite, place: Place, workspace: Path, values: Mapping[str, Any]) -> Sections:
    """Section → option → value, for a new emulated cloud with DevStack's users and networks."""
    common: Sections = {
        "DEFAULT": {"log_file": str(workspace / "tempest.log")},
        "oslo_concurrency": {"lock_path": str(workspace / "tempest_lock")},
        "auth": {
            "admin_username": "admin",
            "admin_password": "secret",
            "admin_project_name": "admin",
            "admin_domain_name": "Default",
        },
        "identity": {"auth_version": "v3", "uri_v3": place.identity, "region": "RegionOne"},
        "compute": {"image_ref": place.images["cirros"], "flavor_ref": "42", "flavor_ref_alt": "84"},
        "network": {"public_network_id": place.networks["public"], "floating_network_name": "public"},
    }
    own = {
        section: {option: str(value).format_map(values) for option, value in options.items()}
        for section, options in suite.configuration.items()
    }
    return {section: common.get(section, {}) | own.get(section, {}) for section in common | own}


def _write(sections: Sections, path: Path) -> None:
    parser = configparser.RawConfigParser()
    parser.read_dict(sections)
    with path.open("w") as file:
        parser.write(file)
