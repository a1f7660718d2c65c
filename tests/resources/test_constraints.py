"""Custom constraints: recorded tables of accepted values, and lookups in the emulated cloud."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.finders import OPENSTACK as FINDERS
from stoker.cloud.session import Cloud
from stoker.plugins.constraints import ConstraintChecker, CustomCheck, Exists, FormCheck
from stoker.resources.constraints import CONSTRAINTS
from stoker.resources.constraints.forms import Expiration
from stoker_foundation.clock import ManualClock
from testing.cases import check_each

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "facts" / "custom_constraints.json").read_text())

OWN = {"congress.policy", "murano.category", "murano.environment", "murano.package"}
"""Constraints for the types of Stoker's own."""


def cases() -> list[tuple[str, tuple[str, Any, bool]]]:
    found: list[tuple[str, tuple[str, Any, bool]]] = []
    for name, fact in RECORDED.items():
        for text, accepted in fact.get("accepts", {}).items():
            count = next((number for number in (63, 64) if f"({number} chars)" in text), None)
            value = "a" * count if count else json.loads(text)
            found.append((f"{name} {text}", (name, value, accepted)))
    return found


def test_every_recorded_constraint_exists() -> None:
    assert CONSTRAINTS.keys() - OWN == RECORDED.keys()
    services = {name: check.service for name, check in CONSTRAINTS.items() if isinstance(check, Exists)}
    assert {name: services.pop(name) for name in OWN} == {name: name.partition(".")[0] for name in OWN}
    assert services == {
        name: "openstack" if name == "neutron.segment" else fact["service"]
        for name, fact in RECORDED.items()
        if fact["service"] and name not in ("nova.network", "zaqar.queue")
    }


def test_formats() -> None:
    def try_value(case: tuple[str, Any, bool]) -> None:
        name, value, accepted = case
        check = CONSTRAINTS[name]
        assert isinstance(check, FormCheck)
        if name == "expiration":
            check = Expiration(ManualClock())
        problem = check.problem(value)
        assert (problem is None) is accepted, problem

    check_each(cases(), try_value)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("0 0 * * mon-fri", True),
        ("0 0 1 jan *", True),
        ("0,30 */2 1-7 * sun#2", True),
        ("0 0 l * *", True),
        ("0 22-2 * * *", True),
        ("*/0 * * * *", False),
        ("0 24 * * *", False),
        ("0 0 0 * *", False),
        ("0 0 * * funday", False),
        ("@sometimes", False),
        ("0 0 * * * * 2030", True),
        ("0 0 * * * * 2030 1", False),
        ("* * * * 1#6", False),
    ],
)
def test_cron(text: str, accepted: bool) -> None:
    check = CONSTRAINTS["cron_expression"]
    assert isinstance(check, FormCheck)
    assert (check.problem(text) is None) is accepted


def checker(cloud: Cloud | None) -> ConstraintChecker:
    return ConstraintChecker(CONSTRAINTS.get, cloud)


async def test_existing_objects_are_accepted_by_name_and_id(cloud: Cloud) -> None:
    image = (await cloud.list("glance", "/v2/images", "images"))[0]
    check = checker(cloud)
    assert await check.check_all([("glance.image", image["name"]), ("glance.image", image["id"])]) == [None, None]
    problem = await check.check("glance.image", "no-such-image")
    assert problem is not None
    assert "no-such-image" in problem


async def test_lookups_are_cached(cloud: Cloud, calls: list[str]) -> None:
    image = (await cloud.list("glance", "/v2/images", "images"))[0]
    calls.clear()
    await checker(cloud).check_all([("glance.image", image["name"])] * 20)
    assert len(calls) == 1


async def test_failed_lookups_are_not_cached(admin: Cloud) -> None:
    check = checker(admin)
    assert await check.check("keystone.project", "late") is not None
    await admin.post("keystone", "/projects", {"project": {"name": "late", "domain_id": "default"}})
    assert await check.check("keystone.project", "late") is None


async def test_an_unavailable_service_is_not_a_violation(cloud: Cloud, served: ServedCloud) -> None:
    served.do(lambda: served.cloud.faults.add(Fault(on="GET /image/*", do="fail", status=503)))
    with pytest.raises(CloudError) as caught:
        await checker(cloud).check("glance.image", "any")
    assert caught.value.transient


async def test_invalid_and_unknown_names_are_violations(cloud: Cloud) -> None:
    problem = await checker(cloud).check("zaqar.queue", "x" * 65)
    assert problem is not None
    assert await checker(cloud).check("mistral.workflow", "w") == "there is no workflow 'w'"


async def test_without_a_cloud_only_formats_are_checked() -> None:
    check = checker(None)
    assert await check.check("glance.image", "any") is None
    assert await check.check("ip_addr", "any") is not None
    assert "no constraint" in str(await check.check("made.up", "any"))


def test_every_finder_has_a_constraint_or_a_property_that_uses_it() -> None:
    used = {check.finder for check in CONSTRAINTS.values() if isinstance(check, Exists)}
    assert set(FINDERS) - used == {
        "manila.security_service",
        "openstack.network_ip",
        "openstack.network_port",
        "openstack.network_segment",
    }


async def test_a_constraint_for_the_release_before_is_checked_with_a_warning(cloud: Cloud) -> None:
    with pytest.warns(DeprecationWarning, match="Even: the method `complaint` is called `violation`"):

        class Even(CustomCheck):
            async def complaint(self, value: object, asked: Cloud | None) -> str | None:
                return "must be even" if int(str(value)) % 2 else None

    checker = ConstraintChecker({"even": Even()}.get, cloud)  # type: ignore[abstract]
    assert await checker.check_all([("even", 1), ("even", 2)]) == ["must be even", None]
