"""Invariants of batches for all sizes of groups: members in service, and the final state."""

from __future__ import annotations

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from stoker.resources.heat.groups.batching import (
    Batch,
    Counted,
    RollingUpdate,
    batches,
    every_change,
    lasting_changes,
    member_definitions,
)

OLD, NEW = "old", "new"
SIZES = st.integers(min_value=0, max_value=12)
ROLLING = st.builds(RollingUpdate, st.integers(min_value=1, max_value=5), SIZES, st.sampled_from([0.0, 30.0]))
COUNTED = st.sampled_from([every_change, lasting_changes])


@given(SIZES, SIZES, ROLLING, COUNTED)
def test_batches_end_at_the_target_and_keep_to_their_limits(
    target: int, current: int, rolling: RollingUpdate, counted: Counted
) -> None:
    planned = list(batches(target, current, rolling, counted))
    assert len(planned) <= 2 * (target + current) + 2
    sizes = [current, *(batch.size for batch in planned)]
    assert sizes[-1] == target
    for batch in planned:
        assert 0 <= batch.changes <= rolling.max_batch_size
        assert batch.size <= max(target, current) + rolling.max_batch_size
    assert [batch.pause for batch in planned] == [0.0, *[rolling.pause] * (len(planned) - 1)][: len(planned)]


@given(SIZES, SIZES, ROLLING)
def test_interchangeable_members_stay_in_service_and_all_change(
    target: int, current: int, rolling: RollingUpdate
) -> None:
    """As `UniformGroup` rolls: members with the former definition go first."""
    members = {f"m{index}": OLD for index in range(current)}
    names = (f"n{index}" for index in count())
    for batch in batches(target, current, rolling, every_change):
        former = sorted(members.items(), key=lambda item: (item[1] == NEW, item[0]))
        after = member_definitions(former, batch, names, lambda name: NEW)
        untouched = [name for name, definition in after.items() if members.get(name) == definition]
        assert len(untouched) >= min(rolling.min_in_service, target, len(members))
        assert len(after) == batch.size
        members = after
    assert list(members.values()) == [NEW] * target


@given(SIZES, SIZES, ROLLING)
def test_named_members_stay_in_service_and_all_change(target: int, current: int, rolling: RollingUpdate) -> None:
    """As `ResourceGroup` rolls: the highest index first, members that are only there for a while last."""
    members = {str(index): OLD for index in range(current)}
    for batch in batches(target, current, rolling, lasting_changes):
        names = [str(index) for index in range(batch.size)]
        turns = {name: target - index if index < target else batch.size for index, name in enumerate(names)}
        former = sorted(((name, members[name]) for name in members if name in turns), key=lambda item: turns[item[0]])
        after = member_definitions(former, batch, (name for name in names if name not in members), lambda name: NEW)
        untouched = [name for name, definition in after.items() if members.get(name) == definition]
        assert len(untouched) >= min(rolling.min_in_service, target, len(members))
        assert sorted(after) == sorted(names)
        members = after
    assert members == {str(index): NEW for index in range(target)}


@given(st.lists(st.sampled_from([OLD, NEW]), max_size=10), SIZES, SIZES)
def test_the_first_members_are_removed_and_batches_are_limited(there: list[str], size: int, changes: int) -> None:
    former = [(f"m{index}", definition) for index, definition in enumerate(there)]
    added = max(size - len(former), 0)
    batch = Batch(size, max(changes, added))
    after = member_definitions(former, batch, (f"n{index}" for index in count()), lambda name: NEW)
    assert [name for name, _ in former if name not in after] == [
        name for name, _ in former[: max(len(former) - size, 0)]
    ]
    changed = [name for name, definition in former if after.get(name, definition) != definition]
    assert len(changed) + added <= batch.changes
