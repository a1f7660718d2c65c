"""The algorithms of groups, against the recorded examples."""

from __future__ import annotations

import pytest

from stoker.resources.heat.groups.batching import (
    Batch,
    RollingUpdate,
    batches,
    every_change,
    lasting_changes,
    member_definitions,
)

# Target, current, most per batch, least in service; batches of groups that scale, batches of resource groups.
EXAMPLES: list[tuple[tuple[int, int, int, int], list[list[int]], list[list[int]]]] = [
    ((4, 0, 2, 0), [[2, 2], [4, 2]], [[2, 2], [4, 2]]),
    ((3, 3, 1, 0), [[3, 1], [3, 1], [3, 1]], [[3, 1], [3, 1], [3, 1]]),
    ((3, 3, 2, 0), [[3, 2], [3, 1]], [[3, 2], [3, 1]]),
    ((3, 3, 1, 2), [[3, 1], [3, 1], [3, 1]], [[3, 1], [3, 1], [3, 1]]),
    ((3, 3, 1, 3), [[4, 1], [4, 1], [4, 1], [3, 0]], [[4, 1], [4, 1], [4, 1], [4, 1], [3, 0]]),
    ((3, 3, 2, 3), [[5, 2], [4, 1], [3, 0]], [[5, 2], [5, 2], [4, 1], [3, 0]]),
    ((4, 4, 3, 0), [[4, 3], [4, 1]], [[4, 3], [4, 1]]),
    ((4, 4, 2, 4), [[6, 2], [6, 2], [4, 0]], [[6, 2], [6, 2], [6, 2], [4, 0]]),
    ((2, 4, 1, 0), [[2, 1], [2, 1]], [[2, 1], [2, 1]]),
    ((4, 2, 1, 0), [[3, 1], [4, 1], [4, 1], [4, 1]], [[3, 1], [4, 1], [4, 1], [4, 1]]),
    ((4, 2, 2, 2), [[4, 2], [4, 2]], [[4, 2], [4, 2]]),
    ((5, 3, 2, 1), [[5, 2], [5, 2], [5, 1]], [[5, 2], [5, 2], [5, 1]]),
    ((0, 3, 1, 0), [[0, 0]], [[0, 0]]),
    ((0, 0, 1, 0), [], []),
    ((2, 2, 5, 0), [[2, 2]], [[2, 2]]),
    ((2, 2, 5, 2), [[4, 2], [2, 0]], [[4, 2], [4, 2], [2, 0]]),
]


@pytest.mark.parametrize(("sizes", "scaling", "named"), EXAMPLES)
def test_batches(sizes: tuple[int, int, int, int], scaling: list[list[int]], named: list[list[int]]) -> None:
    target, current, rolling = sizes[0], sizes[1], RollingUpdate(sizes[2], sizes[3], 0)
    assert [list(batch[:2]) for batch in batches(target, current, rolling, every_change)] == scaling
    assert [list(batch[:2]) for batch in batches(target, current, rolling, lasting_changes)] == named


def definitions(names: str, batch: Batch, new_names: str = "") -> dict[str, str]:
    """Members after a batch, written as `name` + `old` or `new`: "a-" has the old definition, "a+" the new one."""
    former = [(entry[:-1], "new" if entry[-1] == "+" else "old") for entry in names.split()]
    return member_definitions(former, batch, iter(new_names.split()), lambda name: "new")


def test_first_member_is_removed() -> None:
    assert definitions("a- b- c-", Batch(2, 0)) == {"b": "old", "c": "old"}


def test_batch_size_is_used_for_new_members_first() -> None:
    assert definitions("a- b-", Batch(3, 2), "c") == {"a": "new", "b": "old", "c": "new"}


def test_unchanged_members_do_not_count_in_batches() -> None:
    assert definitions("a+ b- c-", Batch(3, 1)) == {"a": "new", "b": "new", "c": "old"}


def test_no_members_left() -> None:
    assert definitions("a- b-", Batch(0, 0)) == {}
