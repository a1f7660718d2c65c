"""Capabilities: which types have them, and the outcome for the others."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest

from stoker.base.errors import NotSupported
from stoker.plugins import capabilities, listing, outcome, recovery
from stoker.plugins.capabilities import Capability, Suspendable
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call, ResourceType

CALL: Any = None  # the types below do not look at it


class Plain(ResourceType):
    type_name = "Test::Plain"
    local = True


class Named(Plain, Suspendable):
    async def suspend(self, call: Call) -> Outcome:
        return Done(note="named")


class Unnamed(Plain):
    async def suspend(self, call: Call) -> Outcome:
        return Done(note="unnamed")


@pytest.mark.parametrize(("kind", "note"), [(Named(), "named"), (Unnamed(), "unnamed"), (Plain(), "")])
async def test_a_type_has_a_capability_if_it_defines_the_method(kind: ResourceType, note: str) -> None:
    assert await capabilities.suspend(kind, CALL) == Done(note=note)


def test_a_type_that_names_a_capability_has_no_other_instances_than_its_own() -> None:
    assert not isinstance(Unnamed(), Named)
    assert issubclass(Unnamed, Suspendable) and not issubclass(Plain, Suspendable)


async def test_unsupported_action_is_refused_with_type_name() -> None:
    for asked in (capabilities.signal(Plain(), CALL, None), capabilities.receive(Plain(), CALL, None)):
        with pytest.raises(NotSupported, match="Test::Plain"):
            await asked


async def test_methods_with_former_names_work_for_one_release() -> None:
    cancelled: list[str] = []
    with pytest.warns(DeprecationWarning, match="Former: the method `give_up` is called `cancel`"):

        class Former(Plain):
            async def give_up(self, call: Call, why: str) -> None:
                cancelled.append(why)

    await capabilities.cancel(Former(), CALL, "timed out")
    assert cancelled == ["timed out"]


@pytest.mark.parametrize(
    ("module", "former", "name"),
    [
        (recovery, "FoundBy", "RecoveryMethod"),
        (outcome, "Again", "InProgress"),
        (listing, "Listing", "CollectionLocation"),
    ],
)
def test_former_names_of_classes_work_for_one_release(module: ModuleType, former: str, name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{former}` is called `{name}`"):
        assert getattr(module, former) is getattr(module, name)
    with pytest.raises(AttributeError):
        getattr(module, f"{former}Else")


def test_former_name_of_a_recovery_method_works_for_one_release() -> None:
    with pytest.warns(DeprecationWarning, match="LIKENESS` is called `MATCHING_PROPERTIES`"):
        former = getattr(recovery.RecoveryMethod, "LIKENESS")  # noqa: B009 - type checkers do not know it
    assert former is recovery.RecoveryMethod.MATCHING_PROPERTIES
    with pytest.raises(AttributeError):
        getattr(recovery.RecoveryMethod, "SIMILARITY")  # noqa: B009


WITHOUT_FUNCTION = {"implicit_requirements", "replacement_reason"}
"""The methods that one caller has, which asks whether a type has the capability."""


def test_each_capability_has_one_method_and_a_function_of_its_name_with_the_same_arguments() -> None:
    found = [kind for kind in Capability.__subclasses__() if kind.__module__.startswith("stoker.plugins")]
    assert len(found) > 20
    assert not [name for name in WITHOUT_FUNCTION if hasattr(capabilities, name)]
    for capability in found:
        (name,) = capability.__abstractmethods__
        if name in WITHOUT_FUNCTION:
            continue
        method, function = getattr(capability, name), getattr(capabilities, name)
        expected = list(inspect.signature(method).parameters)[1:]
        assert list(inspect.signature(function).parameters) == ["kind", *expected]
        assert inspect.iscoroutinefunction(method) == inspect.iscoroutinefunction(function)
