"""The OpenStack community's example templates, what the linter says about them, and the page that lists it.

`python -m testing.corpus` writes the page again, and refuses to list an error that has no reason here.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from stoker.authoring.lint import lint
from stoker.authoring.rules import ERROR, RULES
from stoker.authoring.sources import find_templates
from stoker.authoring.workspace import Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.plugins.registry import Registry

_REPOSITORY = Path(__file__).parents[1]
PAGE = _REPOSITORY / "docs/reference/corpus-problems.md"
UNKNOWN_TYPE = "unknown-type"
ABSENT = (
    "The community's templates are absent: set STOKER_TEMPLATE_CORPUS to the directory of openstack/heat-templates."
)

WHY_WARNED = {
    "deprecated-property": "These templates are older than the properties' present names. The old names work.",
    "deprecated-type": "These types have been replaced, or do nothing any more.",
    "implied-dependency": "The resource refers to the other one as well, or to one that does, so the order is the same "
    "without `depends_on`.",
    "missing-file": "The scripts that these templates include are not part of the collection that is checked here.",
    "unused-parameter": "The template declares the parameter and never asks for it.",
    "unused-condition": "The template declares the condition and never asks for it.",
    "unchecked-number": "The parameter is any string, and its value is used as a number.",
    "hidden-output": "The password that a hidden parameter keeps out of sight is shown by an output.",
    "null-output": "The output names a resource that the template does not have, so its value is null.",
    "ignored-key": "The key of the resource is none that the format has.",
    "ineffective-property": "The property is accepted for old templates and does nothing.",
}
WHY_WRONG = {
    ("constraint", "hot/barbican/secret.yaml"): "the default of `expiration` is a day in 2017, which is past. Heat "
    "refuses it as well.",
    (
        "unknown-property",
        "hot/octavia/servers_with_octavia.yaml",
    ): "the type has no `max_retries_down`. Heat refuses it as well.",
    (
        "constraint",
        "hot/barbican/order.yaml",
    ): "the default of `expiration` is a day in 2017, which is past. Heat refuses it as well.",
    (
        "wrong-type",
        "hot/software-config/example-templates/example-chef-template.yaml",
    ): "`config` of OS::Heat::StructuredConfig is a map; a list is given. Heat refuses it as well.",
    ("duplicate-key", "cfn/F17/Rails_Single_Instance.template"): "the mapping of architectures has `m1.medium` twice, "
    "with the same value.",
    ("properties", "cfn/F17/AutoScalingCeilometer.yaml"): "groups do not register their members with load balancers.",
}
OWN_NAMESPACES = ("OS::", "AWS::")


class Entry(NamedTuple):
    """One line of the page: a rule, and a file with a line; or for an unknown type its name."""

    rule: str
    subject: str
    line: int


def folder() -> Path | None:
    """The directory of the templates, in which `hot` and `cfn` are; None when they are absent.

    `STOKER_TEMPLATE_CORPUS` names it or the directory above it; by default it is looked for beside this repository.
    """
    named = os.environ.get("STOKER_TEMPLATE_CORPUS")
    found = Path(named).absolute() if named else _REPOSITORY.parent / "shared/corpus"
    below = found / "heat-templates"
    found = below if below.is_dir() else found
    return found if found.is_dir() else None


def is_invalid(path: str) -> bool:
    """Whether a template is known to be wrong."""
    return "invalid" in Path(path).parts


def problems(corpus: Path) -> dict[str, list[Diagnostic]]:
    """What the linter says about each template, by path below the corpus."""
    registry = Registry.from_entry_points()
    return {
        str(Path(path).relative_to(corpus)): lint(Workspace(registry), [path]) for path in find_templates([str(corpus)])
    }


def entries(found: dict[str, list[Diagnostic]], corpus: Path) -> set[Entry]:
    """What the page must list."""
    return {
        _entry(diagnostic, corpus)
        for path, diagnostics in found.items()
        if not is_invalid(path)
        for diagnostic in diagnostics
    }


def _entry(diagnostic: Diagnostic, corpus: Path) -> Entry:
    if diagnostic.rule == UNKNOWN_TYPE:
        return Entry(UNKNOWN_TYPE, _type_in(diagnostic), 0)
    line = diagnostic.position.line if diagnostic.position else 0
    return Entry(diagnostic.rule, str(Path(diagnostic.source).relative_to(corpus)), line)


def _type_in(diagnostic: Diagnostic) -> str:
    """The type that a problem of the rule unknown-type is about."""
    return diagnostic.message.split("'")[1]


# -- the page ----------------------------------------------------------------------------------------------------

_HEAD = """\
# Diagnostics for the community's templates

The OpenStack community has a collection of example templates, `openstack/heat-templates`. `stoker lint` reads all of
them: it refuses those that are known to be invalid (their resources have circular dependencies), and all diagnostics
for the others are listed here. A test compares this page with the output of the linter.
"""
_RULE = re.compile(r"## `([a-z-]+)`")
_LISTED = re.compile(r"- `([^`]+)`(?::? (.*))?")


def page(listed: Iterable[Entry]) -> str:
    """The page for these entries. Raises LookupError for one whose reason nobody has written down."""
    by_rule: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for entry in sorted(listed):
        by_rule[entry.rule][entry.subject].append(entry.line)
    order = sorted(by_rule, key=lambda rule: (rule == UNKNOWN_TYPE, RULES[rule].severity, rule))
    return "\n".join([_HEAD, *(line for rule in order for line in _section(rule, by_rule[rule]))])


def _section(rule: str, subjects: dict[str, list[int]]) -> Iterator[str]:
    yield f"## `{rule}`\n"
    if rule == UNKNOWN_TYPE:
        yield from _types(list(subjects))
        return
    if RULES[rule].severity != ERROR:
        yield f"{WHY_WARNED[rule]}\n"
    for subject, lines in subjects.items():
        reason = f": {WHY_WRONG[rule, subject]}" if RULES[rule].severity == ERROR else ""
        yield fill(f"- `{subject}` {_lines(lines)}{reason}", 120, subsequent_indent="  ", break_on_hyphens=False)
    yield ""


def _lines(numbers: list[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _types(names: list[str]) -> Iterator[str]:
    kinds = {
        "Stoker has no resource type of these names": [name for name in names if name.startswith(OWN_NAMESPACES)],
        "These are not the service's own: an environment that comes with the template says what they are": [
            name for name in names if not name.startswith(OWN_NAMESPACES)
        ],
    }
    for title, found in kinds.items():
        if found:
            yield from (f"{title}:\n", *(f"- `{name}`" for name in found), "")


def listed() -> set[Entry]:
    """What the page lists."""
    found = set()
    rule = ""
    for line in PAGE.read_text().replace("\n  ", " ").splitlines():
        if match := _RULE.fullmatch(line):
            rule = match[1]
        elif match := _LISTED.fullmatch(line):
            numbers = re.match(r"lines? ([\d, ]+)", match[2] or "")
            lines = [int(number) for number in numbers[1].split(",")] if numbers else [0]
            found |= {Entry(rule, match[1], number) for number in lines}
    return found


if __name__ == "__main__":
    corpus = folder()
    if corpus is None:
        raise SystemExit(ABSENT)
    PAGE.write_text(page(entries(problems(corpus), corpus)))
