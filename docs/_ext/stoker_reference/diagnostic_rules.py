"""Generate the page about the rules of diagnostics from the table of the linter."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.authoring.rules import RULES
from stoker_reference.markdown import code, page, sentence, table


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page about rules."""
    rows = [(code(rule.name), rule.severity, sentence(rule.meaning), code(rule.example)) for rule in RULES.values()]
    yield (
        "rules.md",
        page(
            "Rules",
            "Each diagnostic about a template or an environment names the rule that is violated. Errors prevent the "
            "creation of a stack; warnings are for template authors and are shown by `stoker lint`.",
            table(("Rule", "Severity", "What is wrong", "For example"), rows),
        ),
    )
