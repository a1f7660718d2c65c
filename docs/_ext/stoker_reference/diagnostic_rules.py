"""The rules that complaints about templates name, from the table of the linter."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.authoring.rules import RULES
from stoker_reference.markdown import code, page, sentence, table


def pages() -> Iterator[tuple[str, str]]:
    """The one page about rules."""
    rows = [(code(rule.name), rule.severity, sentence(rule.meaning), code(rule.example)) for rule in RULES.values()]
    yield (
        "rules.md",
        page(
            "Rules",
            "Every complaint about a template or an environment names the rule that is broken. Errors keep a stack "
            "from being made; warnings are for the author, and `stoker lint` shows them.",
            table(("Rule", "Severity", "What is wrong", "For example"), rows),
        ),
    )
