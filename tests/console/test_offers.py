"""The actions that the console offers for a stack."""

from __future__ import annotations

import pytest

from stoker.console.actions import offered


@pytest.mark.parametrize(
    ("state", "possible"),
    [("CREATE_FAILED", False), ("ADOPT_FAILED", False), ("UPDATE_FAILED", True), ("UPDATE_COMPLETE", False)],
)
def test_only_a_stack_that_had_a_definition_can_be_rolled_back(state: str, possible: bool) -> None:
    assert ("rollback" in offered({"stack_status": state})) == possible
    assert "delete" in offered({"stack_status": state})


def test_a_locked_stack_can_only_be_unlocked_and_stopped() -> None:
    lock = {"reason": "a release", "user_name": "demo", "since": "2026-11-29T01:00:00Z"}
    assert list(offered({"stack_status": "CREATE_COMPLETE", "locked": lock})) == ["unlock"]
    busy = {"stack_status": "UPDATE_IN_PROGRESS", "locked": lock}
    assert sorted(offered(busy)) == ["cancel_without_rollback", "unlock"]
    assert "lock" in offered({"stack_status": "CREATE_COMPLETE"})
    assert not {"lock", "unlock"} & offered({"stack_status": "CREATE_COMPLETE", "parent": "above"}).keys()
