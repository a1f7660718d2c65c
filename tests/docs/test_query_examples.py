"""The examples of the Query API's reference against its answers; STOKER_REWRITE_EXAMPLES=1 records them again."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from stoker_reference.query_actions import missing_actions, pages

from stoker.api.cfn.actions import ACTIONS
from tests.docs.query_walk import walk

pytestmark = pytest.mark.slow


def elements(answer: str) -> set[str]:
    """The names of the elements of an answer."""
    return set(re.findall(r"<(\w+)", answer))


def test_the_examples_are_what_the_query_api_answers(docs: Path, tmp_path: Path) -> None:
    recorded = docs / "_ext" / "stoker_reference" / "query_examples.json"
    answered = walk(tmp_path)
    if os.environ.get("STOKER_REWRITE_EXAMPLES"):
        recorded.write_text(json.dumps(answered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    shown = json.loads(recorded.read_text(encoding="utf-8"))
    assert shown.keys() == answered.keys() == ACTIONS.keys()
    for action, example in shown.items():
        assert example["request"].keys() == answered[action]["request"].keys(), action
        assert elements(example["answer"]) == elements(answered[action]["answer"]), action


def test_the_reference_lists_the_actions_that_are_missing() -> None:
    missing = missing_actions()
    assert "CreateStackSet" in missing and not set(missing) & ACTIONS.keys()
    contents = dict(pages())["query-api.md"]
    assert f"{len(missing)} more actions" in contents and all(f"`{name}`" in contents for name in missing)
