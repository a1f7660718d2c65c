"""Generate the list of the linter's rules and a page for each, from the table of the linter.

The examples are in `rule_examples.yaml`. The diagnostics on the pages are what the linter says about them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from stoker.authoring.lint import lint
from stoker.authoring.render import explanation
from stoker.authoring.rules import ERROR, RULES, WARNING
from stoker.authoring.workspace import Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.plugins.registry import Registry
from stoker.template.rules import Rule
from stoker_reference.markdown import code, page, section, sentence, table

_EXAMPLES = Path(__file__).with_name("rule_examples.yaml")
_TEMPLATE = "template.yaml"
_ENVIRONMENT = "environment.yaml"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the list of rules and of each rule's page."""
    yield "rules.md", _list()
    registry, shown = Registry.from_entry_points(), examples()
    for name, rule in RULES.items():
        yield f"rules/{name}.md", _page(rule, shown.get(name), registry)


def examples() -> Mapping[str, dict[str, Any]]:
    """Return the examples by the name of the rule that they violate."""
    loaded: dict[str, dict[str, Any]] = yaml.safe_load(_EXAMPLES.read_text(encoding="utf-8"))
    return loaded


def diagnosed(example: Mapping[str, Any], registry: Registry) -> list[tuple[Diagnostic, str]]:
    """Return the diagnostics of the linter about an example, each as `stoker lint` shows it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {_TEMPLATE: example["template"], **example.get("files", {})}.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        for name in example.get("folders", ()):
            (Path(folder) / name).mkdir()
        environment = Path(folder) / _ENVIRONMENT
        workspace = Workspace(registry, [str(environment)] if environment.exists() else [])
        found = lint(workspace, [str(Path(folder) / _TEMPLATE)])
        return [(one, _shown(one, workspace).replace(f"{folder}/", "")) for one in found]


def _shown(diagnostic: Diagnostic, workspace: Workspace) -> str:
    text = workspace.sources.shown(diagnostic.source or "")
    return "".join(words for words, _ in explanation(diagnostic, text))


def _list() -> str:
    contents = "\n".join(f"{name} <rules/{name}>" for name in RULES)
    return page(
        "Rules",
        "Each diagnostic about a template or an environment names the rule that is violated, and each rule has a page: "
        "that of `unknown-property` is `generated/rules/unknown-property.html` of this manual. Errors prevent the "
        "creation of a stack; warnings are for template authors and are shown by `stoker lint`.",
        section("Errors", _table(ERROR)),
        section("Warnings", _table(WARNING)),
        f"```{{toctree}}\n:hidden:\n\n{contents}\n```",
    )


def _table(severity: str) -> str:
    return table(
        ("Rule", "What is wrong"),
        [
            (f"[{code(rule.name)}](/generated/rules/{rule.name}.md)", sentence(rule.meaning))
            for rule in RULES.values()
            if rule.severity == severity
        ],
    )


def _page(rule: Rule, example: Mapping[str, Any] | None, registry: Registry) -> str:
    severity = "An error: a stack cannot be created." if rule.severity == ERROR else "A warning of `stoker lint`."
    if example is None:
        return page(rule.name, sentence(rule.meaning), severity, section("Example", f"{code(rule.example)}"))
    said = [text for diagnostic, text in diagnosed(example, registry) if diagnostic.rule == rule.name]
    files = "\n\n".join(f"{code(name)}:\n\n```yaml\n{text}```" for name, text in example.get("files", {}).items())
    return page(
        rule.name,
        sentence(rule.meaning),
        severity,
        section(
            "Example",
            "\n\n".join(
                part for part in (f"```{example.get('lexer', 'yaml')}\n{example['template']}```", files) if part
            ),
        ),
        "`stoker lint` says:",
        "```text\n{}```".format("".join(said)),
        section("What to do", sentence_with_links(example["remedy"])),
        section("Suppress it", _suppression(rule)) if rule.severity == WARNING else "",
    )


def sentence_with_links(text: str) -> str:
    """Return prose on one line; unlike `sentence`, it may contain links."""
    return " ".join(text.split())


def _suppression(rule: Rule) -> str:
    return (
        f"A comment `# stoker: ignore[{rule.name}]` at the end of the line, or alone on the line above, suppresses the "
        "diagnostic at this place."
    )
