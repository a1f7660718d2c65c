"""What other tenants notice while somebody sends templates that are made to cost much."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.security.bombs import ALL, SECRETS, hiding, hot
from tests.security.neighbours import Record, Service, body, measured, sending, started

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("neighbours")]

MOST_MEGABYTES = 300.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with started(tmp_path / "data") as service:
        yield service


def _memory(service: Service, bodies: list[tuple[str, bytes]], record_property: Record) -> float:
    """Return the engine's memory in MB after clients have sent these bodies in turn to their paths."""
    attacker = service.login("demo", "secret", "demo")
    return measured(service, attacker, sending(attacker, bodies), record_property)


def test_bombs_in_previews_and_validations(service: Service, record_property: Record) -> None:
    """Eight clients send every bomb there is to preview and validation."""
    bodies = [
        (path, body(f"bomb{number}", template))
        for number, template in enumerate(ALL.values())
        for path in ("/stacks/preview", "/validate")
    ]
    assert _memory(service, bodies, record_property) < MOST_MEGABYTES


def test_bombs_in_operations(service: Service, record_property: Record) -> None:
    """Eight clients create stacks whose cost is known only while they are made."""
    ten = {"list_join": ["", [{"get_attr": ["r0", "value"]}] * 10]}
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {
            "r0": {"type": "OS::Heat::Value", "properties": {"value": "0123456789" * 1_000}},
            **{
                f"r{n}": {
                    "type": "OS::Heat::Value",
                    "properties": {"value": json.loads(json.dumps(ten).replace("r0", f"r{n - 1}"))},
                }
                for n in range(1, 8)
            },
            "size": {"type": "OS::Heat::Value", "properties": {"type": "number", "value": 10**9}},
            "group": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {
                    "count": {"get_attr": ["size", "value"]},
                    "resource_def": {"type": "OS::Heat::Value", "properties": {"value": "%index%"}},
                },
            },
        },
    }
    bodies = [("/stacks", body(f"operation{n}", template)) for n in range(60)]
    assert _memory(service, bodies, record_property) < MOST_MEGABYTES


def test_secrets_that_are_expensive_to_find(service: Service, record_property: Record) -> None:
    """Eight clients send hidden values that are made so that finding them takes long, or much memory."""
    bodies = [
        ("/stacks/preview", body(f"bomb{number}", hiding(secrets, number)))
        for number, secrets in enumerate(list(SECRETS.values()) * 12)
    ]
    assert _memory(service, bodies, record_property) < MOST_MEGABYTES


def test_templates_that_are_too_large(service: Service, record_property: Record) -> None:
    """Eight clients send templates that are refused for their size."""
    bodies = [("/stacks/preview", body(f"large{number}", hot("x" * 400_000, 1))) for number in range(8)]
    assert _memory(service, bodies, record_property) < MOST_MEGABYTES


def test_answers_far_larger_than_requests(service: Service, record_property: Record) -> None:
    """Eight clients preview templates of some hundred bytes whose values are as large as the limits allow."""
    bodies = []
    for size in (5, 10, 14, 30):
        value = {"str_replace": {"template": "a" * 1_000, "params": {"a": "xy" * 500}}}
        bodies.append(("/stacks/preview", body(f"answer{size}", hot(value, size))))
    assert _memory(service, bodies, record_property) < MOST_MEGABYTES


def test_a_group_of_a_size_from_an_attribute_fails_alone(service: Service) -> None:
    """A group whose size is known only when it is made, and then is a billion."""
    tenant = service.login("demo", "secret", "demo")
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {
            "size": {"type": "OS::Heat::Value", "properties": {"type": "number", "value": 10**9}},
            "group": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {
                    "count": {"get_attr": ["size", "value"]},
                    "resource_def": {"type": "OS::Heat::Value", "properties": {"value": "%index%"}},
                },
            },
        },
    }
    session = tenant.session()
    content = body("billion", template, disable_rollback=True)
    session.post(f"{tenant.url}/stacks", data=content, timeout=60).raise_for_status()
    end = time.monotonic() + 60
    stack: dict[str, Any] = {"stack_status": "CREATE_IN_PROGRESS"}
    while stack["stack_status"] == "CREATE_IN_PROGRESS" and time.monotonic() < end:
        time.sleep(0.2)
        stack = session.get(f"{tenant.url}/stacks/billion", timeout=60).json()["stack"]
    assert stack["stack_status"] == "CREATE_FAILED"
    assert "max_resources_per_stack" in stack["stack_status_reason"]
