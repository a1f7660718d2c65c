"""What a plan announces is what the update does, after whatever has happened to the stack before."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testing.simulation.kept_plans import (
    ACTION,
    CHANGES,
    CREATIONS,
    OBJECTS,
    START,
    WORDS,
    Event,
    PlanScenario,
    PlanScenarios,
    memory_directory,
    opened,
)


@pytest.fixture(scope="module")
def scenarios() -> Iterator[PlanScenarios]:
    with tempfile.TemporaryDirectory(dir=memory_directory()) as directory:
        yield opened(directory)
    asyncio.set_event_loop(None)


def words() -> st.SearchStrategy[dict[str, str]]:
    values: dict[str, Any] = {name: st.sampled_from(("one", "two")) for name in WORDS}
    return st.fixed_dictionaries({**values, "count": st.sampled_from("213")})


VICTIMS = st.sampled_from(sorted(OBJECTS))
EVENTS = st.one_of(
    st.builds(Event, st.just("update"), words(), st.sampled_from(("", *CHANGES))),
    st.builds(Event, st.sampled_from(("suspend", "resume", "restore")), refused=st.sampled_from(("", ACTION))),
    st.builds(Event, st.sampled_from(("check", "unhealthy")), victim=VICTIMS),
)
STORIES = st.builds(
    PlanScenario,
    st.builds(Event, st.just("create"), refused=st.sampled_from(("", "", "", *CREATIONS))),
    st.lists(EVENTS, min_size=1, max_size=4).map(tuple),
    st.builds(Event, st.just("update"), st.one_of(st.just(dict(START)), words())),
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario=STORIES)
def test_updates_do_what_their_plans_announce(scenarios: PlanScenarios, scenario: PlanScenario) -> None:
    random.seed(1)
    assert scenarios.run_scenario(scenario) == []


@pytest.mark.parametrize(
    ("events", "words"),
    [
        pytest.param([Event("update", {**START, "disk": "two"}, "PUT /volume/v3/*/volumes/*")], {}, id="failed update"),
        pytest.param(
            [Event("update", {**START, "count": "1"}, "DELETE /network/v2.0/networks/*")], {}, id="failed deletion"
        ),
        pytest.param([Event("check", victim="marked")], {}, id="failed check"),
        pytest.param([Event("check", victim="net")], {"web": "two"}, id="failed check of what all others use"),
        pytest.param([Event("unhealthy", victim="port")], {"data": "two"}, id="replaced for two reasons"),
        pytest.param([Event("restore")], {"web": "two"}, id="restored"),
        pytest.param([Event("restore", refused=ACTION)], {}, id="failed restore"),
        pytest.param([Event("suspend", refused=ACTION), Event("resume")], {}, id="failed suspension"),
        pytest.param([Event("suspend"), Event("resume", refused=ACTION)], {}, id="failed resumption"),
    ],
)
def test_plans_in_these_states(scenarios: PlanScenarios, events: list[Event], words: dict[str, str]) -> None:
    random.seed(1)
    compared = scenarios.compared
    scenario = PlanScenario(Event("create"), tuple(events), Event("update", {**START, **words}))
    assert scenarios.run_scenario(scenario) == []
    assert scenarios.compared > compared


@pytest.mark.parametrize("refused", CREATIONS)
def test_plans_after_a_failed_creation(scenarios: PlanScenarios, refused: str) -> None:
    random.seed(1)
    compared = scenarios.compared
    assert scenarios.run_scenario(PlanScenario(Event("create", refused=refused), (), Event("update"))) == []
    assert scenarios.compared > compared
