"""Generate the pages about template functions from the table that the compiler uses, and the table of versions.

The examples are in `function_examples.yaml`; a test evaluates them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from pathlib import Path
from typing import Any

import yaml

from stoker.template.functions.builtin import FUNCTIONS
from stoker.template.versions import VERSIONS, Version
from stoker_reference.markdown import code, page, section, sentence, table

_EXAMPLES = Path(__file__).with_name("function_examples.yaml")
_FAMILIES = {
    "heat_template_version": "HOT",
    "AWSTemplateFormatVersion": "AWS CloudFormation",
    "HeatTemplateFormatVersion": "Heat's older CloudFormation format",
}


@dataclass
class Named:
    """What a name means in values, in conditions, and in rules: the variant of the function by the version's name."""

    values: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)

    def variants(self) -> list[str]:
        """Return the variants of the function from the oldest to the newest, without repetition."""
        found = dict.fromkeys([*self.values.values(), *self.conditions.values(), *self.rules.values()])
        return sorted(found, key=lambda variant: (variant.endswith("/param"), variant))

    def newest(self) -> Version:
        """Return the newest version with the function, of the family that has it still."""
        having = [one for one in VERSIONS if one.name in {*self.values, *self.conditions, *self.rules}]
        current = [version for version in having if version.value == "2010-09-09"]
        return having[-1] if having[-1] is VERSIONS[-1] or not current else current[0]


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the list of functions, the page of each, and the page about versions."""
    named = functions_by_name()
    shown = examples()
    yield "functions.md", _list(named)
    yield "versions.md", _versions()
    for name, meaning in named.items():
        yield f"functions/{file_name(name)}.md", _page(name, meaning, shown.get(name, []))


def functions_by_name() -> dict[str, Named]:
    """Return what each name means in which version, in alphabetical order without regard to case."""
    found: dict[str, Named] = {}
    for version in VERSIONS:
        for name, variant in {**version.extended_functions, **version.functions}.items():
            found.setdefault(name, Named()).values[version.name] = variant
        for name, variant in version.condition_functions.items():
            found.setdefault(name, Named()).conditions[version.name] = variant
        for name, variant in version.rule_functions.items():
            found.setdefault(name, Named()).rules[version.name] = variant
    return dict(sorted(found.items(), key=lambda item: (item[0].startswith("Fn::"), item[0].lower())))


def examples() -> Mapping[str, list[dict[str, Any]]]:
    """Return the examples by the name of the function."""
    loaded: dict[str, list[dict[str, Any]]] = yaml.safe_load(_EXAMPLES.read_text(encoding="utf-8"))
    return loaded


def complete(name: str, example: Mapping[str, Any]) -> str:
    """Return the template of an example, with the line that states its version."""
    version = functions_by_name()[name].newest()
    return f"{version.key}: {version.value}\n{example['template']}"


def file_name(name: str) -> str:
    """Return a file name: `fn-getatt` for `Fn::GetAtt`."""
    return name.lower().replace("::", "-")


def _link(name: str) -> str:
    return f"[{code(name)}](/generated/functions/{file_name(name)}.md)"


def _list(named: Mapping[str, Named]) -> str:
    hot = {name: each for name, each in named.items() if each.newest().key == "heat_template_version"}
    others = {name: each for name, each in named.items() if name not in hot}
    contents = "\n".join(f"{name} <functions/{file_name(name)}>" for name in named)
    return page(
        "Template functions",
        "A call is a map with one key, the function's name, whose value has the arguments. The version that a template "
        "states determines the functions that it can use; [versions of the formats](/generated/versions.md) has a "
        "table. The examples on the functions' pages are evaluated by the tests.",
        section("HOT", _table(hot)),
        section(
            "CloudFormation",
            "In YAML, `!GetAtt a.b` is short for `Fn::GetAtt: [a, b]`, and so on for each function.\n\n"
            + _table(others),
        ),
        f"```{{toctree}}\n:hidden:\n\n{contents}\n```",
    )


def _table(named: Mapping[str, Named]) -> str:
    return table(
        ("Function", "Result"),
        [(_link(name), sentence(_documented(each.variants()[-1])[0])) for name, each in named.items()],
    )


def _documented(variant: str) -> tuple[str, str]:
    """Return the first sentence and the rest of what the code says about a variant."""
    summary, _, rest = cleandoc(FUNCTIONS[variant].__doc__ or "").partition("\n")
    return summary, rest.strip()


def _page(name: str, meaning: Named, shown: list[dict[str, Any]]) -> str:
    variants = meaning.variants()
    newest = variants[-1]
    older = [variant for variant in variants[:-1] if _documented(variant) != _documented(newest)]
    return page(
        code(name),
        sentence(_documented(newest)[0]),
        sentence(_documented(newest)[1]),
        "\n\n".join(
            f"In {_range(meaning, variant)}: {sentence(' '.join(part for part in _documented(variant) if part))}"
            for variant in older
        ),
        section("Examples" if len(shown) > 1 else "Example", "\n\n".join(_example(name, each) for each in shown)),
        section("Where it can be used", "\n".join(f"- {line}" for line in _available(meaning))),
    )


def _example(name: str, example: Mapping[str, Any]) -> str:
    parts = [sentence(example["text"])] if "text" in example else []
    parts.append(f"```yaml\n{complete(name, example)}```")
    if known := example.get("resources"):
        parts.append(f"If the cloud answers {code(known)}, the result is:")
    else:
        parts.append("The result is:")
    result = example["result"]
    if isinstance(result, str):
        parts.append(f"```text\n{result.rstrip()}\n```")
    else:
        parts.append(f"```json\n{json.dumps(result, ensure_ascii=False)}\n```")
    return "\n\n".join(parts)


def _available(meaning: Named) -> Iterator[str]:
    for where, versions in (
        ("values", meaning.values),
        ("conditions", meaning.conditions),
        ("the section `Rules`", meaning.rules),
    ):
        if versions:
            yield f"In {where}: {_spans(list(versions))}."
    plain = {variant for version in VERSIONS for variant in version.functions.values()}
    if meaning.values and not plain & set(meaning.values.values()):
        yield "Needs `Transform: AWS::LanguageExtensions`."


def _range(meaning: Named, variant: str) -> str:
    where = {**meaning.rules, **meaning.conditions, **meaning.values}
    return _spans([version for version, each in where.items() if each == variant])


def _spans(names: list[str]) -> str:
    """Describe versions: those of HOT as a range, since a function that is removed does not come back."""
    parts = []
    for key, family in _FAMILIES.items():
        values = [version.value for version in VERSIONS if version.name in names and version.key == key]
        if key != "heat_template_version":
            parts += [f"{family} ({value})" for value in values]
        elif values:
            last = VERSIONS[-1].value
            until = (
                "" if len(values) == 1 and values[0] != last else " on" if values[-1] == last else f" to {values[-1]}"
            )
            parts.append(f"{family} {'from ' if until.startswith(' on') else ''}{values[0]}{until}")
    return ", ".join(parts)


def _versions() -> str:
    """Return the page about versions: what each adds and removes, and a matrix of functions."""
    hot = [version for version in VERSIONS if version.key == "heat_template_version"]
    return page(
        "Versions of the formats",
        "The first key of a template states its format and version. HOT versions are dates; some also have a name and "
        "can be written with it (`heat_template_version: wallaby`). A version has all that its predecessor has, except "
        "what is listed as removed. The version `2026-11-01` is Stoker's own, and unknown to Heat; use the newest of "
        "the others unless the template must run on an older Heat.",
        section(
            "HOT", "\n\n".join(_changes(before, version) for before, version in zip([None, *hot], hot, strict=False))
        ),
        section("CloudFormation", _families()),
        section("Functions by version", _matrix("functions")),
        section("Functions in conditions by version", _matrix("condition_functions")),
    )


_PARTS = (
    ("sections", "sections"),
    ("resource_keys", "keys of a resource"),
    ("output_keys", "keys of an output"),
    ("parameter_keys", "keys of a parameter"),
    ("parameter_constraints", "constraints of parameters"),
    ("deletion_policies", "deletion policies"),
    ("condition_functions", "functions in conditions"),
)


def _changes(before: Version | None, version: Version) -> str:
    """Return an entry of a definition list: what a version adds to its predecessor, and what it removes."""
    lines = [
        f"{what}: {', '.join(map(code, names))}"
        for part, what in _PARTS
        if (names := sorted(set(getattr(version, part)) - set(getattr(before, part, ()))))
    ]
    functions = version.functions
    earlier: Mapping[str, str] = before.functions if before else {}
    if added := sorted(functions.keys() - earlier.keys()):
        lines.append(f"functions: {', '.join(map(_link, added))}")
    if changed := sorted(name for name in functions.keys() & earlier.keys() if functions[name] != earlier[name]):
        lines.append(f"functions with a wider meaning: {', '.join(map(_link, changed))}")
    if removed := sorted(earlier.keys() - functions.keys()):
        lines.append(f"removed functions: {', '.join(map(code, removed))}")
    aliases = "".join(f", or {code(alias)}" for alias in version.aliases)
    body = "\n".join(f"  - {line}" for line in lines or ["the same as its predecessor"])
    return f"{code(version.value)}{aliases}\n: {body.lstrip()}"


def _families() -> str:
    rows = [
        (
            code(f"{version.key}: {version.value}"),
            ", ".join(map(code, sorted(version.sections - set(_FAMILIES)))),
            ", ".join(map(code, sorted(version.resource_keys))),
        )
        for version in VERSIONS
        if version.key != "heat_template_version"
    ]
    return table(("First line", "Sections", "Keys of a resource"), rows)


def _matrix(part: str) -> str:
    """Return a table of functions by version; numbers distinguish variants of a function."""
    names = sorted({name for version in VERSIONS for name in getattr(version, part)}, key=str.lower)
    rows = [(_link(name), *(_number(getattr(version, part).get(name)) for version in VERSIONS)) for name in names]
    return (
        "Numbers distinguish variants: versions with different numbers interpret a function differently.\n\n"
        "{.versions}\n" + table(("Function", *map(_short, VERSIONS)), rows)
    )


def _short(version: Version) -> str:
    kind = {"AWSTemplateFormatVersion": "AWS ", "HeatTemplateFormatVersion": "CFN "}.get(version.key, "")
    return f"{kind}{version.value}"


def _number(variant: str | None) -> str:
    return "" if variant is None else variant.rpartition("/")[2]
