"""`stoker rehearse`: bugs of templates are found, good templates have no findings, and runs can be repeated."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import stoker
from stoker.base.errors import Invalid
from stoker.cli.main import cli
from stoker.testing.rehearsal.disruptions import Disruption, DisruptionKind, kinds_for
from stoker.testing.rehearsal.rehearsal import WORKER, Rehearsal, rehearse, request
from stoker.testing.rehearsal.report import to_data
from stoker.testing.rehearsal.scenario import Outcome, Scenario
from stoker.testing.workers import Workers
from tests.sandbox.template_bugs import BUGS, MENDS, Bug

pytestmark = pytest.mark.slow

TEMPLATES = Path(__file__).with_name("rehearsed")
EXAMPLES = Path(stoker.__file__).with_name("examples")


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """One process for all rehearsals: it is started once, by whichever test is first, where the templates are."""
    with pytest.MonkeyPatch.context() as patched, Workers(WORKER, 1) as made:
        patched.chdir(TEMPLATES)
        yield made


@pytest.fixture
def shared_process(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands use the process of all rehearsals, and not start one of their own, which takes seconds."""
    monkeypatch.setattr("stoker.testing.workers.Workers", lambda module, jobs: nullcontext(workers))


def rehearsed(workers: Workers, template: str, seeds: int = 0) -> Rehearsal:
    return rehearse(Scenario(template), seeds, None, workers)


def _together() -> list[list[Bug]]:
    """Return the bugs that one rehearsal finds, for each rehearsal."""
    found: dict[tuple[str, str | None], list[Bug]] = {}
    for bug in BUGS:
        found.setdefault((bug.template, bug.to), []).append(bug)
    return list(found.values())


@pytest.mark.parametrize("bugs", _together(), ids=lambda bugs: f"{bugs[0].rule} {bugs[0].to or bugs[0].template}")
def test_rehearsal_finds_planted_bugs(bugs: list[Bug], workers: Workers) -> None:
    """Each has its rule and its place, and nothing else is found."""
    first = bugs[0]
    found = rehearse(Scenario(first.template, first.to, cloud=first.cloud), first.seeds, None, workers).findings
    for bug in bugs:
        texts = [f"{each.text()} {each.hint}" for each in found if each.rule == bug.rule]
        assert [text for text in texts if re.match(rf"{re.escape(bug.place)}\b", text) and bug.words in text], found
    assert len(found) == len(bugs), found


@pytest.mark.parametrize(
    "bug", [bugs[0] for bugs in _together()], ids=lambda bug: f"{bug.rule} {bug.to or bug.template}"
)
def test_corrected_templates_have_no_findings(bug: Bug, workers: Workers, tmp_path: Path) -> None:
    """What the page of the rule advises is enough."""
    folder = Path(shutil.copytree(TEMPLATES, tmp_path / "templates"))
    mend = MENDS[bug.to or bug.template]
    for name, old, new in mend.changes:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
    target = str(folder / bug.to) if bug.to else None
    found = rehearse(Scenario(str(folder / bug.template), target, cloud=mend.cloud), bug.seeds, None, workers)
    assert not found.findings
    assert all(phase.succeeded for phase in found.undisturbed.phases)


@pytest.mark.parametrize(
    ("example", "seeds"),
    [
        ("network.yaml", 24),
        ("hello.yaml", 3),
        ("static-site/static-site.yaml", 12),
        ("cfn/web.yaml", 6),
        ("cluster/cluster.yaml", 6),
        ("web-tier/web-tier.yaml", 6),
        ("scaling/scaling.yaml", 0),
    ],
)
def test_good_templates_have_no_findings(example: str, seeds: int, workers: Workers) -> None:
    found = rehearsed(workers, str(EXAMPLES / example), seeds=seeds)
    assert not found.findings
    assert not any(outcome.error or outcome.left for _, outcome in found.outcomes)
    assert all(phase.succeeded for phase in found.undisturbed.phases)


def test_a_run_can_be_repeated(workers: Workers) -> None:
    """Each number stands for the same run, whatever ran before it."""
    scenario = Scenario(str(EXAMPLES / "network.yaml"))
    both = [rehearse(scenario, None, number, workers) for number in (30, 500, 30, 500)]
    one, combined, again, combined_again = [to_data(each)["runs"] for each in both]
    assert (one, combined) == (again, combined_again)
    assert (len(one[0]["disruptions"]), len(combined[0]["disruptions"]) > 1) == (1, True)


def test_runs_are_alike_until_something_goes_wrong(workers: Workers) -> None:
    """Random pauses between attempts, too, are the same each time; a run in which nothing goes wrong is undisturbed."""
    scenario = Scenario(str(EXAMPLES / "network.yaml"))
    [undisturbed] = workers.answers([request(scenario)])
    requests = Outcome.from_dict(undisturbed).phases[0].requests
    made = min(each.number for each in requests if each.made and each.resource)
    lost = Disruption("create", made, DisruptionKind.LOST_ANSWER)
    never = Disruption("create", len(requests), DisruptionKind.LOST_ANSWER)
    one, again, without = workers.answers([request(scenario, [each]) for each in (lost, lost, never)])
    assert one == again
    assert len(one["met"]) == 1
    assert one["phases"][0]["steps"] != undisturbed["phases"][0]["steps"]  # there was a pause
    assert without == undisturbed


def test_another_engine_takes_over(workers: Workers) -> None:
    scenario = Scenario(str(EXAMPLES / "network.yaml"))
    [undisturbed] = map(Outcome.from_dict, workers.answers([request(scenario)]))
    made = [each.number for each in undisturbed.phases[0].requests if each.resource and each.method == "POST"]
    deaths = [
        Disruption("create", made[0], DisruptionKind.ENGINE_DEATH),
        Disruption("delete", 3, DisruptionKind.DEATH_AFTER_COMMIT),
    ]
    [outcome] = map(Outcome.from_dict, workers.answers([request(scenario, deaths)]))
    assert (outcome.engines, len(outcome.met)) == (3, 2)
    assert [phase.state for phase in outcome.phases] == ["CREATE_COMPLETE", "DELETED"]
    assert outcome.phases[0].seconds > undisturbed.phases[0].seconds
    assert not outcome.left


def test_views_for_users(workers: Workers) -> None:
    scenario = Scenario(str(EXAMPLES / "network.yaml"))
    [undisturbed] = map(Outcome.from_dict, workers.answers([request(scenario)]))
    [subnet] = [each for each in undisturbed.phases[0].requests if each.path.endswith("/subnets")]
    wanted = [
        Disruption("create", subnet.number, kind)
        for kind in (DisruptionKind.QUOTA, DisruptionKind.RATE_LIMIT, DisruptionKind.LOST_ANSWER)
    ]
    outcomes = workers.answers([request(scenario, [each]) for each in wanted])
    limited, busy, lost = (Outcome.from_dict(each).phases[0] for each in outcomes)
    assert limited.state == "ROLLBACK_COMPLETE"
    assert [failure.path for failure in limited.failures] == ["subnet"]
    assert "Quota exceeded" in limited.failures[0].reason
    assert (busy.state, lost.state) == ("CREATE_COMPLETE", "CREATE_COMPLETE")


def test_scaling(workers: Workers) -> None:
    """Policies are signalled in the given order; a disruption takes place while a group scales."""
    scenario = Scenario("scaled-servers.yaml", scaled=("grow", "grow", "grow"))
    found = rehearse(scenario, 0, None, workers)
    assert not found.findings
    names = ["create", "scale grow", "scale grow 2", "scale grow 3", "delete"]
    states = ["CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_COMPLETE", "UNCHANGED", "DELETED"]  # the maximum is three
    assert [(phase.name, phase.state) for phase in found.undisturbed.phases] == list(zip(names, states, strict=True))
    [made] = [each for each in found.undisturbed.phases[2].requests if each.made]
    [answer] = workers.answers([request(scenario, [Disruption("scale grow 2", made.number, DisruptionKind.REFUSED)])])
    outcome = Outcome.from_dict(answer)
    assert [phase.state for phase in outcome.phases][1:] == ["UPDATE_COMPLETE", "UPDATE_FAILED", "DELETED"]
    assert outcome.phases[2].failures[0].path.startswith("servers.")
    assert not outcome.left
    with pytest.raises(Invalid, match="no scaling policy 'shrink', but grow"):
        rehearse(Scenario("scaled-servers.yaml", scaled=("shrink",)), 0, None, workers)


def test_capacity_during_a_rolling_update(workers: Workers) -> None:
    found = to_data(rehearse(Scenario("members.yaml", "members-larger.yaml"), 0, None, workers))
    assert not found["single_points"]  # each server has others beside it
    [capacity] = found["capacity"]
    assert (capacity["path"], capacity["size"], capacity["least"]) == ("servers", 3, 1)
    assert 60 <= capacity["seconds"] < found["undisturbed"][1]["seconds"] - 55  # all are there during the pause


def test_single_points_of_failure(workers: Workers) -> None:
    """Everything stops without the subnet, which the server needs and nothing in the template says."""
    points = to_data(rehearsed(workers, str(TEMPLATES / "nested-subnet.yaml"), seeds=8))["single_points"]
    assert [each["resource"] for each in points] == ["network", "addresses.subnet", "server"]
    assert [(each["dependents"], each["of"]) for each in points] == [(2, 2), (1, 2), (0, 2)]
    assert (points[0]["seed"], points[0]["state"]) == (7, "ROLLBACK_COMPLETE")


def test_stacks_of_other_regions(workers: Workers) -> None:
    """They are resources with paths; what goes wrong in them is seen where they are written."""
    scenario = Scenario(str(TEMPLATES / "regions.yaml"), cloud={"regions": ["RegionTwo"]})
    [undisturbed] = map(Outcome.from_dict, workers.answers([request(scenario)]))
    assert [phase.state for phase in undisturbed.phases] == ["CREATE_COMPLETE", "DELETED"]
    requests = undisturbed.phases[0].requests
    [made] = [each for each in requests if each.made and each.resource == "there"]
    [server] = [each for each in requests if each.made and each.resource == "there.server"]
    wanted = [
        Disruption("create", made.number, DisruptionKind.LOST_ANSWER),
        Disruption("create", server.number, DisruptionKind.QUOTA),
        Disruption("create", made.number, DisruptionKind.ENGINE_DEATH),
    ]
    lost, limited, died = map(Outcome.from_dict, workers.answers([request(scenario, [each]) for each in wanted]))
    assert (lost.phases[0].state, limited.phases[0].state) == ("CREATE_COMPLETE", "ROLLBACK_COMPLETE")
    assert limited.phases[0].failures[0].path == "there.server"
    assert (died.phases[0].state, died.engines) == ("CREATE_COMPLETE", 2)
    assert not lost.left and not limited.left and not died.left


def interrupted(ended: int, monkeypatch: pytest.MonkeyPatch) -> Result:
    """Ctrl-C after so many answers of the processes, of which the first is that of the undisturbed run."""
    answers, given = Workers.answers, 0

    def until_interrupted(workers: Workers, requests: Sequence[Mapping[str, object]]) -> Iterator[Any]:
        nonlocal given
        for answer in answers(workers, requests):
            if given == ended:
                raise KeyboardInterrupt
            given += 1
            yield answer

    monkeypatch.setattr(Workers, "answers", until_interrupted)
    command = ["rehearse", str(EXAMPLES / "network.yaml"), "--seeds", "4", "-j", "1", "-f", "json"]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 130, done.output
    assert "interrupted" in done.stderr and "Traceback" not in done.output
    return done


def test_interruption_of_the_undisturbed_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends the process that it has started, and reports nothing."""
    assert interrupted(0, monkeypatch).stdout == ""


@pytest.mark.parametrize("ended", [1, 3])
@pytest.mark.usefixtures("shared_process")
def test_interruption_reports_ended_runs(ended: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.loads(interrupted(ended, monkeypatch).stdout)
    assert data["summary"]["runs"] == len(data["runs"]) == ended - 1
    assert data["summary"]["interrupted"] == 4 - (ended - 1)
    assert [each["state"] for each in data["undisturbed"]] == ["CREATE_COMPLETE", "DELETED"]


@pytest.mark.usefixtures("shared_process")
def test_an_update_of_parameters(tmp_path: Path) -> None:
    template = tmp_path / "members.yaml"
    text = (TEMPLATES / "members.yaml").read_text().replace("count: 3", "count: {get_param: count}")
    parameter = "parameters: {count: {type: number, constraints: [{range: {max: 4}}]}}\nresources:"
    template.write_text(text.replace("resources:", parameter, 1))
    command = ["rehearse", str(template), "--seeds", "0", "-j", "1", "-f", "json", "-P", "count=2", "--to-parameter"]
    done = CliRunner().invoke(cli, [*command, "count=4"])
    assert done.exit_code == 0, done.output
    phases = json.loads(done.output)["undisturbed"]
    assert [each["state"] for each in phases] == ["CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETED"]
    assert phases[1]["requests"] > 2
    refused = CliRunner().invoke(cli, [*command, "count=5"])
    assert (refused.exit_code, "5 is more than 4" in refused.output) == (2, True)


@pytest.mark.usefixtures("shared_process")
def test_recorded_durations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The creation takes as long as it did in a real stack, whose members have other names."""
    monkeypatch.chdir(TEMPLATES)
    began = {"resource_status": "CREATE_IN_PROGRESS", "event_time": "2026-01-01T10:00:00Z"}
    ended = {"resource_status": "CREATE_COMPLETE", "event_time": "2026-01-01T10:02:05Z"}
    events = [{"path": path, **event} for event in (began, ended) for path in ("servers", "servers.w7hq2")]
    recorded = tmp_path / "web.events"
    recorded.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    command = ["rehearse", "scaled-servers.yaml", "--seeds", "0", "-j", "1", "-f", "json", "--timings", str(recorded)]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    data = json.loads(done.output)
    assert [round(each["ended"]) for each in data["critical_path"]] == [125]
    assert [round(each["seconds"]) for each in data["undisturbed"]] == [125, 125, 10]  # deletions were not recorded
    recorded.write_text('{"path": "servers"}\n')
    done = CliRunner().invoke(cli, command)
    assert (done.exit_code, "web.events:1: this is no event" in done.output) == (2, True)


def test_events_of_open_transactions_are_not_visible(workers: Workers) -> None:
    """The engine waits for what it has just created, and finds nothing in a list that lacks its second half."""
    scenario = Scenario(str(EXAMPLES / "network.yaml"))
    [undisturbed] = map(Outcome.from_dict, workers.answers([request(scenario)]))
    requests = undisturbed.phases[0].requests
    [listed] = [each for each in requests if each.listed and each.path.endswith("/networks")]
    [router] = [each for each in requests if each.made and each.path.endswith("/routers")]
    wanted = [
        Disruption("create", router.number, DisruptionKind.EVENTUAL_CONSISTENCY),
        Disruption("create", listed.number, DisruptionKind.PARTIAL_LIST),
    ]
    late, partial = map(Outcome.from_dict, workers.answers([request(scenario, [each]) for each in wanted]))
    assert late.phases[0].state == "CREATE_COMPLETE"
    assert late.phases[0].seconds > undisturbed.phases[0].seconds + 1
    assert partial.phases[0].state == "ROLLBACK_COMPLETE"
    assert "there is no network 'public'" in partial.phases[0].failures[0].reason
    assert not late.left and not partial.left
    assert [kind for kind in kinds_for(listed) if kind is DisruptionKind.PARTIAL_LIST]
    assert DisruptionKind.EVENTUAL_CONSISTENCY not in kinds_for(listed)


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TEMPLATES)
    done = CliRunner().invoke(cli, ["rehearse", "rolling.yaml", "--seeds", "1", "-j", "1", "-f", "json"])
    assert done.exit_code == 1, done.output
    data = json.loads(done.output)
    [finding] = data["findings"]
    assert (finding["rule"], finding["position"]) == ("batches-outlast-timeout", {"line": 3, "column": 3})
    assert data["summary"] == {"runs": 1, "single": 1, "findings": 1, "not_performed": 0, "interrupted": 0}
    assert [each["state"] for each in data["undisturbed"]] == ["CREATE_COMPLETE", "DELETED"]
    assert data["runs"][0]["disruptions"][0]["kind"] == "slow"


@pytest.mark.usefixtures("shared_process")
def test_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    done = CliRunner().invoke(cli, ["rehearse", str(EXAMPLES / "network.yaml"), "--seeds", "1", "-j", "1"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0] == "Without disruptions:"
    assert re.fullmatch(r"  create  CREATE_COMPLETE +\d+ s  \d+ requests", lines[1])
    assert "  single points of failure: network, router, subnet, interface" in lines
    assert lines[-1] == "no findings in 1 runs"
    assert "\x1b" not in done.output
