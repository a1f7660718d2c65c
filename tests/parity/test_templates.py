"""Whole stacks end here as they ended in a real Heat 27: status, outputs, type of the error (see `record.py`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.cases import check_each
from testing.harness import ThreadedWorld, serve_rest
from tests.parity.heat_client import Service, token
from tests.parity.template_cases import cases, fingerprint, recorded

CASES = cases()
RECORDED = recorded()
SAME_CLASS: Mapping[str | None, str] = {
    "HTTPBadRequest": "a validation failure",
    "StackValidationFailed": "a validation failure",
}
"""Types of errors that clients cannot tell apart by their status, and that no rule of Heat's tells apart."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("parity")
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        running = ThreadedWorld(directory, served)
        server = serve_rest(running, directory)
        given, project = token(f"{served.url}/identity/v3", "demo", served.cloud.password_of("demo"), "demo")
        yield Service(f"{server.url}/v1/{project}", given)
        server.stop()
        running.stop()


@pytest.mark.parametrize("group", dict.fromkeys(name.partition(":")[0] for name in CASES))
def test_stack_deletion_has_the_states_of_heat(group: str, service: Service) -> None:
    def check(name: str) -> None:
        case, expected = CASES[name], RECORDED[name]
        assert expected["of"] == fingerprint(case), "the case has changed: record it again"
        differs = case.get("differs")
        outcome = service.outcome(case)
        if differs is not None:
            assert differs["because"]
            assert not _same(outcome, expected), "there is no difference any more"
            expected = differs
        assert _same(outcome, expected), (outcome, expected)

    check_each(((name, name) for name in CASES if name.partition(":")[0] == group), check)


def _same(outcome: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    status = outcome["status"] == expected["status"]
    error = SAME_CLASS.get(outcome.get("error"), outcome.get("error"))
    return (
        status
        and error == SAME_CLASS.get(expected.get("error"), expected.get("error"))
        and json.dumps(outcome.get("outputs"), sort_keys=True) == json.dumps(expected.get("outputs"), sort_keys=True)
    )


def test_every_case_has_a_recording() -> None:
    assert set(RECORDED) == set(CASES)
