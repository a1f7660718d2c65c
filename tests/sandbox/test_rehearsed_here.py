"""Rehearsals whose runs are performed in this process, and what `stoker rehearse` refuses before any run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import stoker
from stoker.cli.main import cli
from stoker.testing.rehearsal.disruptions import Disruption
from stoker.testing.rehearsal.rehearsal import WORKER, Rehearsal, rehearse
from stoker.testing.rehearsal.rules import RULES
from stoker.testing.rehearsal.scenario import CREATE, Scenario
from stoker.testing.rehearsal.scenario_run import ScenarioRun, definitions_of
from stoker.testing.workers import Workers
from tests.sandbox.template_bugs import BUGS, Bug

TEMPLATES = Path(__file__).with_name("rehearsed")
EXAMPLES = Path(stoker.__file__).with_name("examples")
RULE_PAGE = Path(__file__).parents[2] / "docs/reference/rehearsal-rules.md"

FOUND_HERE = ("no-gateway.yaml", "boot-volume.yaml", "group-by-name.yaml", "address.yaml", "wait-for-nobody.yaml")


class ThisProcess(Workers):
    """Performs the runs itself, one after another; it starts no process."""

    def answers(self, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        for each in requests:
            scenario = Scenario.from_dict(each["scenario"])
            with ScenarioRun(scenario, definitions_of(scenario)) as run:
                run.until(CREATE)
                yield asdict(run.end([Disruption.from_dict(one) for one in each["disruptions"]]))


def rehearsed(scenario: Scenario, seeds: int) -> Rehearsal:
    with ThisProcess(WORKER, 1) as workers:
        return rehearse(scenario, seeds, None, workers)


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.template in FOUND_HERE], ids=lambda bug: str(bug.template))
def test_planted_bug_is_the_only_finding(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TEMPLATES)
    [finding] = rehearsed(Scenario(bug.template, bug.to, cloud=bug.cloud), bug.seeds).findings
    assert finding.rule == bug.rule
    text = f"{finding.text()} {finding.hint}"
    assert re.match(rf"{re.escape(bug.place)}\b", text) and bug.words in text


def test_good_template_has_no_findings() -> None:
    found = rehearsed(Scenario(str(EXAMPLES / "network.yaml")), 6)
    assert not found.findings
    assert len(found.outcomes) == 6
    assert not any(outcome.error or outcome.left or not outcome.met for _, outcome in found.outcomes)
    assert [phase.state for phase in found.undisturbed.phases] == ["CREATE_COMPLETE", "DELETED"]


def test_each_rule_is_violated_and_has_its_section() -> None:
    assert {bug.rule for bug in BUGS} == set(RULES)
    sections = re.findall(r"^## `(.+)`$", RULE_PAGE.read_text(), re.MULTILINE)
    assert sections == list(RULES)


def test_unusable_templates(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("heat_template_version: 2021-04-16\nresources: {a: {type: OS::Nova::Sever}}\n")
    done = CliRunner().invoke(cli, ["rehearse", str(tmp_path / "bad.yaml")])
    assert done.exit_code == 2
    assert "unknown-type" in done.output and "Traceback" not in done.output
    (tmp_path / "cloud.yaml").write_text("flavours: {}\n")
    template = str(EXAMPLES / "network.yaml")
    done = CliRunner().invoke(cli, ["rehearse", template, "--cloud", str(tmp_path / "cloud.yaml")])
    assert done.exit_code == 2
    assert "flavors" in done.output
