"""How much a template may ask of the service. Options keep Heat's names (facts: config_options.json)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from stoker.base.processor_time import processor_time


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets for reading and evaluating one template.

    `max_template_size` counts characters, `max_resources_per_stack` resources of this template (-1 is no limit),
    `max_depth` nested collections, `max_expanded_size` the characters and values left when every YAML alias, loop or
    replacement has been written out, `max_repeat_items` what one `repeat`, or all loops of a template, may yield.

    `yaql_limit_iterators` and `yaql_memory_quota` are the options `limit_iterators` and `memory_quota` of the group
    `yaql`. Times are in seconds of processor time, so that what else a machine does never makes a template fail:
    `yaql_seconds` for one expression, `pattern_seconds` for the regular expressions on all parameter values of one
    stack, `evaluation_seconds` for checking all its resources, and for all its yaql expressions. `max_problems` is how
    many are reported before the rest of the template is left unread.
    """

    max_template_size: int = 524_288
    max_resources_per_stack: int = 1000
    max_depth: int = 100
    max_expanded_size: int = 4 * 1024 * 1024
    max_repeat_items: int = 20_000
    yaql_limit_iterators: int = 200
    yaql_memory_quota: int = 10_000
    yaql_seconds: float = 0.5
    pattern_seconds: float = 0.2
    evaluation_seconds: float = 30.0
    max_problems: int = 200


DEFAULT_LIMITS = Limits()


class Allowance:
    """Processor time that costly calls in a thread may take together, in seconds; it only gets less."""

    def __init__(self, seconds: float) -> None:
        self.seconds_left = seconds

    @contextmanager
    def spending(self) -> Iterator[None]:
        """The time that the block takes is used up. Raises TimeoutError when nothing is left before it begins."""
        if self.seconds_left <= 0:
            raise TimeoutError
        began = processor_time()
        try:
            yield
        finally:
            self.seconds_left -= processor_time() - began
