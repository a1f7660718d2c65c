"""Generate the page about template functions by version, from the table that the compiler uses."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.template.functions.builtin import FUNCTIONS
from stoker.template.versions import VERSIONS, Version
from stoker_reference.markdown import code, page, section, sentence, table


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page about functions."""
    names = sorted({name for version in VERSIONS for name in version.functions}, key=str.lower)
    conditions = sorted({name for version in VERSIONS for name in version.condition_functions}, key=str.lower)
    yield (
        "functions.md",
        page(
            "Template functions",
            "Each template specifies its version, which determines the available functions and their behavior. "
            "Numbers distinguish variants of a function: versions with different numbers interpret it differently.",
            section("Versions", _versions()),
            section("Functions by version", _matrix(names)),
            section("Arguments and results", _meanings(names)),
            section("Functions in conditions", _condition_matrix(conditions)),
        ),
    )


def _versions() -> str:
    rows = [
        (
            code(f"{version.key}: {version.value}"),
            ", ".join(code(alias) for alias in version.aliases),
            len(version.functions),
        )
        for version in VERSIONS
    ]
    return table(
        ("First line of the template", "Alternative values", "Functions"), [(a, b, str(c)) for a, b, c in rows]
    )


def _matrix(names: list[str]) -> str:
    return table(
        ("Function", *_headings()),
        [(code(name), *(_number(v.functions.get(name)) for v in VERSIONS)) for name in names],
    )


def _condition_matrix(names: list[str]) -> str:
    return table(
        ("Function", *_headings()),
        [(code(name), *(_number(version.condition_functions.get(name)) for version in VERSIONS)) for name in names],
    )


def _headings() -> list[str]:
    return [_short(version) for version in VERSIONS]


def _short(version: Version) -> str:
    kind = {"AWSTemplateFormatVersion": "AWS ", "HeatTemplateFormatVersion": "CFN "}.get(version.key, "")
    return f"{kind}{version.value}"


def _number(variant: str | None) -> str:
    return "" if variant is None else variant.rpartition("/")[2]


def _meanings(names: list[str]) -> str:
    rows = []
    for name in names:
        variants = dict.fromkeys(version.functions[name] for version in VERSIONS if name in version.functions)
        rows += [(code(name), _number(variant), sentence(FUNCTIONS[variant].__doc__ or "")) for variant in variants]
    return table(("Function", "Variant", "Arguments and result"), rows)
