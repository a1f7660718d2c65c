"""The actions that the console offers for a stack."""

from __future__ import annotations

import pytest

from stoker.console.actions import offered


@pytest.mark.parametrize(
    ("state", "possible"),
    [("CREATE_FAILED", False), ("ADOPT_FAILED", False), ("UPDATE_FAILED", True), ("UPDATE_COMPLETE", False)],
)
def test_only_a_stack_that_had_a_definition_can_be_rolled_back(state: str, possible: bool) -> None:
    assert ("rollback" in offered(state)) == possible
    assert "delete" in offered(state)
