"""The suite's configuration, its run, and its results."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.installed import unpacked
from conformance.place import HIDDEN_TAG, Place
from conformance.report import Result

PARTS = ("api", "functional", "scenario")
SKIPPED: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("skipped.json").read_text())
"""Part of the suite → class, or class and test → why it cannot run here."""

_TESTS = "heat_tempest_plugin.tests"
_READER = Path(__file__).with_name("read_results.py")
_THERE = ("heat", "cinder", "glance", "neutron", "nova", "swift", "zaqar")
_MISSING = ("aodh", "barbican", "gnocchi", "octavia")


def run(programs: Path, place: Place, home: Path, parts: Sequence[str], workers: int, tests: str = "") -> list[Result]:
    """Run parts of the suite, and answer the results in the order of the tests' names.

    Of each part, the tests whose names match the regular expression `tests`.
    """
    workspace = home / "tempest"
    environment = {
        "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(home),
    }
    subprocess.run([programs / "tempest", "init", workspace], check=True, env=environment, stderr=subprocess.DEVNULL)
    _write(configuration(programs, place, workspace), workspace / "etc" / "tempest.conf")
    stream = home / "results.subunit"
    chosen = f"^{_TESTS}.({'|'.join(parts)}).*({tests})"
    command = [str(programs / "tempest"), "run", "--subunit", "--regex", chosen, "--concurrency", str(workers)]
    with stream.open("wb") as output, (home / "tempest.log").open("wb") as log:
        subprocess.run(command, check=False, cwd=workspace, env=environment, stdout=output, stderr=log)
    read = [str(path) for path in (programs / "python", _READER, stream)]
    found = json.loads(subprocess.run(read, check=True, capture_output=True, env=environment).stdout)
    return sorted((_explained(Result(**item)) for item in found), key=lambda result: result.test)


def configuration(programs: Path, place: Place, workspace: Path) -> dict[str, dict[str, str]]:
    """Section → option → value, for a new emulated cloud with DevStack's users and networks."""
    return {
        "DEFAULT": {"log_file": str(workspace / "tempest.log")},
        "oslo_concurrency": {"lock_path": str(workspace / "tempest_lock")},
        "auth": {
            "admin_username": "admin",
            "admin_password": "secret",
            "admin_project_name": "admin",
            "admin_domain_name": "Default",
        },
        "identity": {"auth_version": "v3", "uri_v3": place.identity, "region": "RegionOne"},
        "service_available": dict.fromkeys(_THERE, "true") | dict.fromkeys(_MISSING, "false"),
        "heat_features_enabled": {"stack_cancel": "true", "multi_cloud": "true"},
        "heat_plugin": {
            "auth_url": place.identity,
            "username": "demo",
            "password": "secret",
            "project_name": "demo",
            "admin_username": "admin",
            "admin_password": "secret",
            "admin_project_name": "admin",
            "user_domain_name": "Default",
            "project_domain_name": "Default",
            "region": "RegionOne",
            "instance_type": "m1.small",
            "minimal_instance_type": "m1.nano",
            "image_ref": "fedora",
            "minimal_image_ref": "cirros",
            "fixed_network_name": "private",
            "fixed_subnet_name": "private-subnet",
            "network_for_ssh": "private",
            "floating_network_name": "public",
            "hidden_stack_tag": HIDDEN_TAG,
            "build_interval": "1",
            "build_timeout": "180",
            "heat_config_notify_script": str(_notify_script(programs)),
            **{f"skip_{part}_test_list": ",".join(tests) for part, tests in SKIPPED.items()},
        },
    }


def _notify_script(programs: Path) -> Path:
    """What a server's agent answers with."""
    return next(unpacked(programs).glob("heat_agents-*")) / "heat-config" / "bin" / "heat-config-notify"


def _write(sections: dict[str, dict[str, str]], path: Path) -> None:
    parser = configparser.RawConfigParser()
    parser.read_dict(sections)
    with path.open("w") as file:
        parser.write(file)


def _explained(result: Result) -> Result:
    """With our reason for a test that the configuration leaves out."""
    if result.status != "skip":
        return result
    words = result.test.split("[")[0].split(".")
    for name in _names(words):
        for tests in SKIPPED.values():
            if name in tests:
                return Result(result.test, result.status, tests[name])
    return result


def _names(words: Sequence[str]) -> Iterable[str]:
    return (words[-2], ".".join(words[-2:])) if len(words) > 1 else ()
