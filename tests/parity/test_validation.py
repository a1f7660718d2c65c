"""Templates are validated here as by a real Heat 27, with the same answer (see `record.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.cases import check_each
from testing.harness import ThreadedWorld, serve_rest
from tests.parity.heat_client import Service, token
from tests.parity.template_cases import fingerprint
from tests.parity.validation_cases import cases, outcome, recorded

CASES = cases()
RECORDED = recorded()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("validation")
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        running = ThreadedWorld(directory, served)
        server = serve_rest(running, directory)
        given, project = token(f"{served.url}/identity/v3", "demo", served.cloud.password_of("demo"), "demo")
        yield Service(f"{server.url}/v1/{project}", given)
        server.stop()
        running.stop()


@pytest.mark.parametrize("initial", sorted({name[0] for name in CASES}))
def test_a_template_is_validated_as_in_heat(initial: str, service: Service) -> None:
    def check(name: str) -> None:
        case, expected = CASES[name], RECORDED[name]
        assert expected["of"] == fingerprint(case), "the case has changed: record it again"
        found = outcome(service, case)
        if "differs" in case:
            assert case["differs"]
            assert not _same(found, expected), "there is no difference any more"
            assert found["status"] in (200, 400)
        else:
            assert _same(found, expected), (found, expected)

    check_each(((name, name) for name in CASES if name.startswith(initial)), check)


def _same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return bool(found["status"] == expected["status"] and _shown(found) == _shown(expected))


def _shown(outcome: Mapping[str, Any]) -> Any:
    """The description without the sentence about constraints, which Heat repeats for each constraint."""
    return _without(outcome.get("answer", {}), "ConstraintDescription")


def _without(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _without(inner, key) for name, inner in value.items() if name != key}
    return value


def test_every_case_has_a_recording() -> None:
    assert set(RECORDED) == set(CASES)
