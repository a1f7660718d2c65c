"""Hints for maps that look like calls of functions, but whose key is not the name of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stoker.base.diagnostics import Path
from stoker.base.similar import Suggestion, closest
from stoker.template.versions import VERSIONS, Version

_SIMILARITY = 0.8
_LONGEST_NAME = 60
_MARKS = ("_", "::")
"""A name with one of these is hardly anything but a function's."""

_EQUIVALENTS = (
    ("get_param", "Ref"),
    ("get_resource", "Ref"),
    ("get_attr", "Fn::GetAtt"),
    ("list_join", "Fn::Join"),
    ("str_split", "Fn::Split"),
    ("str_replace", "Fn::Sub"),
    ("str_replace", "Fn::Replace"),
    ("resource_facade", "Fn::ResourceFacade"),
    ("if", "Fn::If"),
    ("equals", "Fn::Equals"),
    ("not", "Fn::Not"),
    ("and", "Fn::And"),
    ("or", "Fn::Or"),
    ("contains", "Fn::Contains"),
)
"""Functions of HOT and of CloudFormation that do the same."""
_WITHOUT_EQUIVALENT = {
    "Fn::Base64": "HOT needs no such function: properties take the string itself",
    "Fn::FindInMap": "HOT has no mappings: declare a parameter of type json, and read it with get_param and a path",
    "Fn::ImportValue": "HOT has no exports: pass the value in a parameter",
    "Fn::Select": "read the item with the path of get_param or get_attr",
    "get_file": "CloudFormation has no such function: write the content into the template, or use HOT",
}
_OTHER_NAMES = dict(
    [*((cfn, hot) for hot, cfn in reversed(_EQUIVALENTS)), *((hot, cfn) for hot, cfn in reversed(_EQUIVALENTS))]
)


def function_hint(value: object, version: Version) -> str:
    """Return a hint if `value` seems to be a call: of a misspelt function, or of one of another version or language."""
    name = _only_key(value)
    return _hint(name, version, version.functions) if name and name not in version.functions else ""


def condition_hint(value: object, version: Version) -> str:
    """Return the same as `function_hint` for a call in a condition."""
    name = _only_key(value)
    return _hint(name, version, version.condition_functions) if name else ""


def _hint(name: str, version: Version, functions: Mapping[str, str]) -> str:
    later = [other for other in VERSIONS if other.key == version.key and _has(other, name)]
    if later and not _has(version, name):
        return f"{name} is a function from {later[0].name.replace('.', ': ', 1)} on"
    if any(_has(other, name) for other in VERSIONS):
        return other_language(name, version)
    close = closest(name, functions, _SIMILARITY) or closest(name.lower(), functions, _SIMILARITY)
    return Suggestion(name, close, "the function ") if close else ""


def other_language(name: str, version: Version) -> str:
    """Return what to write instead of a function of the other language, HOT or CloudFormation, or an empty string."""
    meant = _OTHER_NAMES.get(name, "")
    if _has(version, meant):
        return f"use {meant}"
    later = [other for other in VERSIONS if other.key == version.key and _has(other, meant)]
    if later:
        return f"use {meant}, which exists from {later[0].name.replace('.', ': ', 1)} on"
    is_of_hot = "::" not in name and name != "Ref"
    return "" if is_of_hot == (version.dialect.name == "hot") else _WITHOUT_EQUIVALENT.get(name, "")


def _has(version: Version, name: str) -> bool:
    return name in version.functions or name in version.condition_functions


def misspelt_calls(value: object, path: Path, version: Version) -> Iterator[tuple[Path, str, str]]:
    """Yield the path, the name and a hint of each map inside `value` that seems to be a call of a misspelt function."""
    pending = [(value, path)]
    while pending:
        inner, place = pending.pop()
        name = _only_key(inner)
        if _is_marked(name) and (hint := function_hint(inner, version)):
            yield place, name, hint
        if isinstance(inner, Mapping):
            pending += [(item, (*place, key)) for key, item in inner.items()]
        elif isinstance(inner, list):
            pending += [(item, (*place, index)) for index, item in enumerate(inner)]


def _is_marked(name: str) -> bool:
    return name == "Ref" or any(mark in name for mark in _MARKS)


def _only_key(value: object) -> str:
    """Return the key of a map that has one; otherwise an empty string."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return ""
    (name,) = value
    return name if isinstance(name, str) and len(name) <= _LONGEST_NAME else ""
