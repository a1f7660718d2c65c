"""The examples of resource types that `stoker types --example` prints: those of the manual, which tests deploy."""

from __future__ import annotations

import json
import os
from pathlib import Path

import yaml
from click.testing import CliRunner

import stoker
from stoker.cli.main import cli
from stoker.plugins.registry import Registry
from testing.simulation.cases import creating, example, local

RECORDED = Path(stoker.__file__).parent / "authoring" / "type_examples.json"


def test_the_examples_are_those_of_the_manual() -> None:
    cases = {**creating(), **local()}
    examples = {
        name: example(name, cases[name]) for name in sorted(Registry.from_entry_points().types) if name in cases
    }
    if os.environ.get("STOKER_REWRITE_EXAMPLES"):
        RECORDED.write_text(json.dumps(examples, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert json.loads(RECORDED.read_text(encoding="utf-8")) == examples, "STOKER_REWRITE_EXAMPLES=1 writes them again"


def test_an_example_is_a_template_that_the_linter_accepts(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
        return done.output

    for name in ("OS::Neutron::Port", "os::nova::server", "OS::Heat::AutoScalingGroup", "AWS::EC2::Instance"):
        path = tmp_path / "example.yaml"
        path.write_text(run("types", name, "--example"))
        assert name.lower() in {
            entry["type"].lower() for entry in yaml.safe_load(path.read_text())["resources"].values()
        }
        assert "0 errors" in (output := run("lint", str(path))) or "no problems" in output or "error" not in output
    wrong = CliRunner().invoke(cli, ["types", "OS::Neutron::Prt", "--example"])
    assert wrong.exit_code == 1 and "did you mean" in str(wrong.exception or wrong.output) + wrong.output
