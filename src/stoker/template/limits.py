"""How much a template may ask of the service. Options keep Heat's names where Heat has them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from stoker.base.budget import Allowed

_RESOURCES = 1000
"""For how many resources the budget of an evaluation is meant; where more are allowed, so is more of everything."""

_WITHOUT_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets for reading and evaluating templates.

    `max_template_size` counts characters, `max_resources_per_stack` resources of this template (-1 is no limit),
    `max_depth` nested collections, `max_expanded_size` the characters and values left when every YAML alias, loop or
    replacement has been written out, `max_repeat_items` what one `repeat`, or all loops of a template, may yield,
    `max_problems` how many are reported before the rest of the template is left unread.

    `yaql_limit_iterators` and `yaql_memory_quota` are the options `limit_iterators` and `memory_quota` of the group
    `yaql`; `yaql_seconds` is for one expression.

    What is done for one request, or one operation, shares a budget (see `stoker.base.budget`): `evaluation_steps` are
    calls of functions and values that are looked at, `evaluation_bytes` what is made of text and values, each time that
    it is made, `evaluation_seconds` the time that all this takes.

    Times are seconds of processor time, so that what else a machine does never makes a template fail.
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
    def allowed(self) -> Allowed:
        """What the budget of one request, or one operation, has."""
        whole = Allowed(
            self.evaluation_steps, self.evaluation_bytes, self.evaluation_seconds, self.max_resources_per_stack
        )
        resources = self.max_resources_per_stack
        return whole.times(_WITHOUT_LIMIT if resources < 0 else max(1, ceil(resources / _RESOURCES)))


DEFAULT_LIMITS = Limits()
