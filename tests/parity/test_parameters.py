"""Every measured parameter schema and value gives what the reference engine gave, or says here why not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from testing.cases import check_each
from tests.parity.harness import FACTS, run

KINDS: Mapping[str, str] = {"re.error": "InvalidSchemaError"}
"""Kinds that we give another name: a bad regular expression is a bad schema."""


def test_parameters() -> None:
    check_each(((json.dumps(case), case) for case in FACTS["parameters"]), _assert_as_measured)


def _assert_as_measured(case: Mapping[str, Any]) -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {"p": case["schema"]},
        "outputs": {"o": {"value": {"get_param": "p"}}},
    }
    outcome = run(template, {"p": case["value"]} if "value" in case else {})
    if "error" in case:
        kind = case["error"]["class"]
        assert outcome.kind == KINDS.get(kind, kind), outcome
    elif case["out"] == "NaN":
        assert math.isnan(outcome.value)
    else:
        assert outcome.kind == "", outcome.text
        assert json.dumps(outcome.value) == json.dumps(case["out"])
        assert outcome.shown is not None
        assert outcome.shown["p"] == case["shown"]
