"""The search for the object of an interrupted creation, while another resource's object is being deleted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stoker.engine.calls.object_search import found
from stoker.plugins.resource import Call, ResourceType
from tests.resources.resource_harness import Bench
from tests.resources.test_rest_resource import Disk


class Searched(Disk):
    """The objects of nobody at each search: another resource's one counts as such between deletion and removal."""

    def __init__(self, *answers: str | None) -> None:
        super().__init__()
        self.answers = list(answers)

    async def find(self, call: Call) -> str | None:
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ((None,), None),
        (("mine", "mine"), "mine"),
        (("being deleted", "mine", "mine"), "mine"),
        (("being deleted", None), None),
    ],
)
async def test_an_object_counts_if_two_searches_find_it(
    bench: Callable[[type[ResourceType]], Bench], answers: tuple[str | None, ...], result: str | None
) -> None:
    disks, kind = bench(Disk), Searched(*answers)
    assert await found(kind, disks.call(disks.resource(), "CREATE", {})) == result
    assert kind.answers == []
