"""Generate the list of the linter's rules and a page for each, from the table of the linter.

The examples are in `rule_examples.yaml`. The diagnostics on the pages are what the program says about them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from stoker.authoring.convert.templates import convert
from stoker.authoring.lint import lint
from stoker.authoring.project_files.checking import problems_of
from stoker.authoring.render import TextOf, explanation
from stoker.authoring.rules import ERROR, RULES, WARNING
from stoker.authoring.sources import Sources
from stoker.authoring.workspace import Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.plugins.registry import Registry
from stoker.template.limits import DEFAULT_LIMITS
from stoker.template.rules import Rule
from stoker_reference.markdown import code, page, section, sentence, table

_EXAMPLES = Path(__file__).with_name("rule_examples.yaml")
_PROJECT = "project.yaml"
_TEMPLATE = "template.yaml"
_ENVIRONMENTS = "environment*.yaml"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the list of rules and of each rule's page."""
    yield "rules.md", _list()
    registry, found = Registry.from_entry_points(), examples()
    for name, rule in RULES.items():
        yield f"rules/{name}.md", _page(rule, found[name], registry)


def examples() -> Mapping[str, dict[str, Any]]:
    """Return the examples by the name of the rule that they violate."""
    loaded: dict[str, dict[str, Any]] = yaml.load(_EXAMPLES.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return loaded


def diagnosed(example: Mapping[str, Any], registry: Registry) -> list[tuple[Diagnostic, str]]:
    """Return the diagnostics about an example, each as the command or API that finds it shows it.

    An example for `plan` needs a service; what this said was recorded, and a test compares it.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {_TEMPLATE: example["template"], **example.get("files", {})}.items():
            (Path(folder) / name).write_text(text, encoding=example.get("encoding", "utf-8"))
        found, text_of = _FINDERS[example.get("found_by", "lint")](example, Path(folder), registry)
        return [(one, shown(one, text_of).replace(f"{folder}/", "")) for one in found]


def shown(diagnostic: Diagnostic, text_of: TextOf) -> str:
    """Return a diagnostic as a command shows it."""
    return "".join(words for words, _ in explanation(diagnostic, text_of(diagnostic.source or "")))


Found = tuple[Sequence[Diagnostic], TextOf]


def _linted(_example: Mapping[str, Any], folder: Path, registry: Registry) -> Found:
    environments = [str(path) for path in sorted(folder.glob(_ENVIRONMENTS))]
    workspace = Workspace(registry, environments)
    return lint(workspace, [str(folder / _TEMPLATE)]), workspace.sources.shown


def _linted_project(_example: Mapping[str, Any], folder: Path, _registry: Registry) -> Found:
    return problems_of(str(folder / _PROJECT)), lambda source: Path(source).read_text("utf-8")


def _converted(example: Mapping[str, Any], folder: Path, _registry: Registry) -> Found:
    sources = Sources(DEFAULT_LIMITS)
    return convert(sources.template(str(folder / _TEMPLATE)), example["to"]).problems, sources.shown


def _run(example: Mapping[str, Any], _folder: Path, _registry: Registry) -> Found:
    try:
        exec(example["template"], {})
    except TemplateInvalid as error:
        return error.diagnostics, lambda _source: None
    return (), lambda _source: None


_FINDERS: Mapping[str, Callable[[Mapping[str, Any], Path, Registry], Found]] = {
    "lint": _linted,
    "project": _linted_project,
    "convert": _converted,
    "python": _run,
}
_SAYS = {
    "lint": "`stoker lint` says:",
    "project": "`stoker lint project.yaml` says:",
    "convert": "`stoker convert` says:",
    "python": "The exception has the diagnostic:",
    "plan": "`stoker plan` says:",
}


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


def _page(rule: Rule, example: Mapping[str, Any], registry: Registry) -> str:
    severity = "An error: a stack cannot be created." if rule.severity == ERROR else "A warning of `stoker lint`."
    said = example.get("said") or "".join(
        text for diagnostic, text in diagnosed(example, registry) if diagnostic.rule == rule.name
    )
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
        _SAYS[example.get("found_by", "lint")],
        f"```text\n{said}```",
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
