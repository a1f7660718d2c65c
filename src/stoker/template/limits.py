"""How much a template may ask of the service. Options keep Heat's names (facts: config_options.json)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets for reading and evaluating one template.

    `max_template_size` counts characters, `max_resources_per_stack` resources of this template (-1 is no limit),
    `max_depth` nested collections, `max_expanded_size` the characters and values left when every YAML alias has
    been written out, `max_repeat_items` what one `repeat` may yield. `yaql_limit_iterators` and
    `yaql_memory_quota` are the options `limit_iterators` and `memory_quota` of the group `yaql`; `yaql_seconds`
    is how long one expression may run.
    """

    max_template_size: int = 524_288
    max_resources_per_stack: int = 1000
    max_depth: int = 100
    max_expanded_size: int = 4 * 1024 * 1024
    max_repeat_items: int = 20_000
    yaql_limit_iterators: int = 200
    yaql_memory_quota: int = 10_000
    yaql_seconds: float = 1.0


DEFAULT_LIMITS = Limits()
