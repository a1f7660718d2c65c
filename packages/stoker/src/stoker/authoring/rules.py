"""All rules of the linter: those of the template language, and those about files."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.template.rules import RULES as TEMPLATE_RULES
from stoker.template.rules import Rule

ERROR = "error"
WARNING = "warning"

_OWN = (
    Rule("unreadable", "The file cannot be opened, or is not UTF-8.", "type: a_folder.yaml"),
    Rule("limit", "The template is larger than a server accepts.", "1001 resources"),
    Rule("duplicate-key", "A mapping has a key twice; a server uses the last value silently.", "{size: 1, size: 2}"),
    Rule(
        "project-file",
        "A project file names what does not exist, has another form than it must have, or its stacks depend on each "
        "other.",
        "parameters: {network: {from: {stack: nett, output: id}}}",
    ),
    Rule("nesting", "Stacks are nested deeper than a server accepts.", "web.yaml: {type: web.yaml}"),
    Rule(
        "not-expressible",
        "`stoker convert` only: the other dialect has no equivalent.",
        "get_file in CloudFormation's dialect",
    ),
    Rule(
        "missing-file",
        "A file or URL that the template refers to is not available; values that depend on it are not checked.",
        "user_data: {get_file: not_here.sh}",
        WARNING,
    ),
    Rule("unused-ignore", "A comment ignores a rule that is not violated there.", "# stoker: ignore[version]", WARNING),
)

RULES: Mapping[str, Rule] = {**TEMPLATE_RULES, **{rule.name: rule for rule in _OWN}}
"""All rules by name."""
