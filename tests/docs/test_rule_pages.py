"""The examples on the pages of the linter's rules: each violates its rule."""

from __future__ import annotations

from stoker_reference.diagnostic_rules import diagnosed, examples

from stoker.authoring.rules import RULES
from stoker.plugins.registry import Registry

WITHOUT_A_FILE = {
    "not-plain-data", "parameter-missing", "service", "external-id", "ineffective-property", "limit", "not-expressible",
    "environment", "merge-strategy", "unreadable",
}  # fmt: skip
"""Rules that a service, a limit or another command finds violated, or files that no page can show."""


def test_every_example_violates_its_rule() -> None:
    registry, shown = Registry.from_entry_points(), examples()
    assert shown.keys() <= RULES.keys()
    assert RULES.keys() - shown.keys() == WITHOUT_A_FILE
    wrong = {}
    for name, example in shown.items():
        found = [diagnostic.rule for diagnostic, _ in diagnosed(example, registry)]
        if name not in found:
            wrong[name] = found
    assert wrong == {}
