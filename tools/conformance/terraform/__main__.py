"""Import the states of configurations of Terraform as stacks, on the emulated cloud.

    python -m tools.conformance.terraform [--only TITLE] [--corpus DIRECTORY]

The configurations are in `testing/terraform/configurations.yaml`. The objects of each are made over the services' APIs,
and its state is written as the provider writes it. Each state becomes a template and an environment, whose deployment
must write nothing to the cloud, and whose plan afterwards must be empty. Where Terraform is installed, it must be able
to read the states. The exit status is 0 when all is so.

With --corpus (or STOKER_TERRAFORM_CORPUS), the configurations are those of others instead: each directory in it has the
files (`*.tf`, `*.tfvars`) of one. They are evaluated here, and what they name of their cloud is made first. This needs
`pip install -r tools/conformance/terraform.txt`. Such a corpus is no part of the project.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.terraform.applying import configurations
from testing.terraform.proving import Place

_CORPUS = "STOKER_TERRAFORM_CORPUS"
_TOOLS = ("terraform", "tofu")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.conformance.terraform", description="Import states.")
    parser.add_argument("--only", default="", metavar="TITLE", help="configurations with this in their titles")
    parser.add_argument(
        "--corpus", type=Path, default=os.environ.get(_CORPUS), metavar="DIRECTORY", help="configurations of others"
    )
    arguments = parser.parse_args()
    only = arguments.only
    if arguments.corpus is not None:
        return _of_others(Path(arguments.corpus), only)
    print(f"Only the project's own configurations: neither --corpus nor {_CORPUS} names a directory with others.")
    tools = [name for name in _TOOLS if shutil.which(name)]
    print(f"The states are read by {' and '.join(tools)}." if tools else "Neither terraform nor tofu is installed.")
    passed = failed = 0
    with (
        tempfile.TemporaryDirectory() as directory,
        ServedCloud(new_cloud(clock=SystemClock(), pace=0.0)) as served,
    ):
        place = Place(Path(directory), served)
        try:
            for configuration in configurations():
                if only not in configuration["title"]:
                    continue
                problems = _problems(place, configuration, tools, Path(directory))
                passed, failed = passed + (not problems), failed + bool(problems)
                print(f"{'failed' if problems else 'passed'}  {configuration['title']}")
                for each in problems:
                    print(f"        {each}")
        finally:
            place.stop()
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def _of_others(corpus: Path, only: str) -> int:
    """Prove the configurations in a directory. Return the exit status."""
    if not corpus.is_dir():
        print(f"Skipped: there is no directory {corpus}.")
        return 0
    try:
        from tools.conformance.terraform.corpus import proofs
    except ModuleNotFoundError as error:
        print(f"Skipped: {error.name} is missing. Run pip install -r tools/conformance/terraform.txt")
        return 0
    passed = failed = 0
    for proof, unsupported in proofs(corpus, only):
        passed, failed = passed + (not proof.problems), failed + bool(proof.problems)
        print(f"{'failed' if proof.problems else 'passed'}  {proof.title}: {proof.resources} resources")
        for each in (*proof.problems, *(f"{name}: {reason}" for name, reason in unsupported.items())):
            print(f"        {each}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def _problems(place: Place, configuration: Mapping[str, Any], tools: list[str], directory: Path) -> list[str]:
    state = place.state(configuration)
    file = directory / "terraform.tfstate"
    file.write_text(json.dumps(state))
    problems = []
    for tool in tools:
        listed = subprocess.run(
            [tool, "state", "list", f"-state={file}"], capture_output=True, text=True, check=False, timeout=60
        )
        declared = {*configuration["resources"], *(f"data.{each}" for each in configuration.get("data", {}))}
        if listed.returncode or set(listed.stdout.split("\n")) - {""} != declared:
            problems.append(f"{tool} reads {listed.stdout.split() or listed.stderr}")
    return [*problems, *place.import_state(configuration, state).problems]


if __name__ == "__main__":
    raise SystemExit(main())
