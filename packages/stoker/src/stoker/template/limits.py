"""Limits on the cost of a template. Options have Heat's names where Heat has them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from stoker.base.budget import BudgetLimits

_RESOURCES = 1000
"""The number of resources for which the budget of an evaluation is sized; it grows if more are allowed."""

_WITHOUT_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets for reading and evaluating templates.

    `max_template_size` counts bytes of UTF-8, `max_resources_per_stack` resources of this template (-1 is no limit),
    `max_depth` nested collections, `max_expanded_size` the characters and values left when every YAML alias, loop or
    replacement has been written out, `max_repeat_items` what one `repeat`, or all loops of a template, may yield,
    `max_problems` how many are reported before checking stops.

    `yaql_limit_iterators` and `yaql_memory_quota` are the options `limit_iterators` and `memory_quota` of the group
    `yaql`; `yaql_seconds` is for one expression.

    All evaluations for one request, or one operation, share a budget (see `stoker.base.budget`): `evaluation_steps`
    counts function calls and visited values, `evaluation_bytes` the bytes of all strings and values that are created,
    and `evaluation_seconds` limits the time for all of it.

    Times are seconds of processor time, so that other load on the machine never makes a template fail.
    """

    max_template_size: int = 524_288
    max_resources_per_stack: int = 1000
    max_depth: int = 100
    max_expanded_size: int = 4 * 1024 * 1024
    max_repeat_items: int = 20_000
    yaql_limit_iterators: int = 200
    yaql_memory_quota: int = 10_000
    yaql_seconds: float = 0.5
    evaluation_steps: int = 5_000_000
    evaluation_bytes: int = 128 * 1024 * 1024
    evaluation_seconds: float = 5.0
    max_problems: int = 200

    @property
    def allowed(self) -> BudgetLimits:
        """The budget of one request, or one operation."""
        whole = BudgetLimits(
            self.evaluation_steps, self.evaluation_bytes, self.evaluation_seconds, self.max_resources_per_stack
        )
        resources = self.max_resources_per_stack
        return whole.times(_WITHOUT_LIMIT if resources < 0 else max(1, ceil(resources / _RESOURCES)))


DEFAULT_LIMITS = Limits()
