"""What a template may cost, whichever function, parser or property it is written for."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stoker.base.budget import Budget, opened
from stoker.base.errors import UserError
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.expressions import UnknownScope
from stoker.template.functions.builtin import FUNCTIONS as VARIANTS
from stoker.template.limits import DEFAULT_LIMITS, Limits
from stoker.template.parameters import PseudoParameters
from stoker.template.template import Template
from stoker_foundation.processor_time import processor_time
from tests.security.bombs import ALL, FUNCTIONS, PARSERS

LIMITS = replace(
    DEFAULT_LIMITS,
    evaluation_seconds=1.0,
    evaluation_steps=DEFAULT_LIMITS.evaluation_steps // 4,
    evaluation_bytes=DEFAULT_LIMITS.evaluation_bytes // 4,
)
"""A quarter of the default budget: most cases are evaluated until it is spent, which takes as much less time."""
SECONDS = 3.0
MEGABYTES = 50
PARSER_MEGABYTES = 100
"""Documents have the largest size that is allowed, whatever the budget."""
_CASES = {**{f"function {name}": value for name, value in FUNCTIONS.items()}, **PARSERS}


def test_every_function_has_a_resource_exhaustion_case() -> None:
    """A function that no template attacks."""
    assert set(FUNCTIONS) == set(VARIANTS)


@pytest.mark.parametrize("name", sorted(ALL))
def test_bombs_are_refused_by_budget_and_not_by_size(name: str) -> None:
    """A template that is refused before it reaches what it attacks."""
    template = ALL[name]
    text = template if isinstance(template, str) else json.dumps(template, ensure_ascii=False)
    assert len(text.encode()) <= Limits().max_template_size


def _memory(field: str) -> float:
    """Megabytes: `VmHWM` is the most that this process has taken, `VmRSS` what it takes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def _evaluate(source: Any) -> None:
    template = Template.load(source, limits=Limits(yaql_seconds=0.1))
    pseudo = PseudoParameters("", "bomb", "p")
    definition = Definition.bind(
        template, Environment.from_data(None), parameters={}, files={}, pseudo=pseudo, exports={}
    )
    scope = UnknownScope()
    for resource in definition.resources.values():
        definition.resolve(resource.properties, scope)
    for output in definition.outputs.values():
        definition.resolve(output.value, scope)


@pytest.mark.parametrize("name", sorted(_CASES))
def test_resource_exhaustion_case_is_refused(name: str, record_property: Callable[[str, object], None]) -> None:
    """A template whose evaluation is to take minutes or gigabytes."""
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM counts from here on
    before, began = _memory("VmRSS"), processor_time()
    with opened(Budget(LIMITS.allowed)), contextlib.suppress(UserError):
        _evaluate(_CASES[name])
    grown = _memory("VmHWM") - before
    record_property("engine_memory_mb", grown)
    assert processor_time() - began < SECONDS
    assert grown < (PARSER_MEGABYTES if name in PARSERS else MEGABYTES)
