"""The examples on the pages of the linter's rules: each violates its rule.

Rules without an example here, such as those that only a service can find violated, have the short one of the table.
"""

from __future__ import annotations

from stoker_reference.diagnostic_rules import diagnosed, examples

from stoker.authoring.rules import RULES
from stoker.plugins.registry import Registry


def test_every_example_violates_its_rule() -> None:
    registry, shown = Registry.from_entry_points(), examples()
    assert shown.keys() <= RULES.keys()
    wrong = {}
    for name, example in shown.items():
        found = [diagnostic.rule for diagnostic, _ in diagnosed(example, registry)]
        if name not in found:
            wrong[name] = found
    assert wrong == {}
