"""The examples on the pages of the rules: each violates its rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from stoker_reference.diagnostic_rules import diagnosed, examples, shown

from stoker.authoring.rules import RULES
from stoker.plugins.registry import Registry
from tests.docs.rest_walk import walking

PLANNED = {name: example for name, example in examples().items() if example.get("found_by") == "plan"}


def test_every_example_violates_its_rule() -> None:
    registry, known = Registry.from_entry_points(), examples()
    assert known.keys() == RULES.keys()
    wrong = {}
    for name in known.keys() - PLANNED.keys():
        found = [diagnostic.rule for diagnostic, _ in diagnosed(known[name], registry)]
        if name not in found:
            wrong[name] = found
    assert wrong == {}


@pytest.mark.slow
def test_plans_say_what_the_pages_show(tmp_path: Path) -> None:
    with walking(tmp_path) as walk:
        walk.login("demo", "demo")
        for name, example in PLANNED.items():
            template = example["template"]
            found = [one for one in walk.refusal(template) if one.rule == name]
            texts = [shown(replace(one, source="template.yaml"), {"template.yaml": template}.get) for one in found]
            assert texts == [example["said"]], name
