"""The kinds of steps, as all displays of plans know them."""

from __future__ import annotations

import re
from pathlib import Path

import stoker
from stoker.authoring.plan_steps import MISSING, VERBS
from stoker.cli.views import plans
from stoker.engine.planning.kinds import StepKind


def test_every_kind_of_change_has_a_sign_in_the_terminal_and_in_the_console() -> None:
    template = (Path(stoker.__file__).parent / "console" / "templates" / "plan_steps.html").read_text()
    signs, words = (set(re.findall(r"'(\w+)': '", line)) for line in template.splitlines()[:2])
    assert set(plans._LOOKS) == {*VERBS, MISSING} == signs == words
    assert {kind.value for kind in StepKind} - {StepKind.KEEP.value} | {"move", "import"} == set(VERBS)
