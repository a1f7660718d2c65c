"""Readers of the sections of a template, which report every structural problem.

Each reader takes the section's data, returns the valid part of it, and adds the mistakes to `problems`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker.base.diagnostics import Key, Path
from stoker.base.errors import TemplateInvalid
from stoker.template import parameter
from stoker.template.document import Document
from stoker.template.environment import NO_TRANSFERS
from stoker.template.environment import SECTIONS as ENVIRONMENT_SECTIONS
from stoker.template.formats import named_formats
from stoker.template.limits import Limits
from stoker.template.parameter import ParameterSchema
from stoker.template.problems import Problems, suggestion, type_name
from stoker.template.transfers import TRANSFERS, Transfers, transfer_problems
from stoker.template.versions import Version, by_name, versions


def read_version(data: Mapping[str, Any], problems: Problems) -> Version:
    """Return the format that the template states; raises TemplateInvalid if there is none that exists."""
    named = named_formats(data)
    keys = list(named)
    if not keys:
        message = "the template does not state its version"
        problems.add("version", message, hint=_without_version(data), kind="ValueError")
    elif len(keys) > 1:
        problems.add(
            "version", f"only one of {' and '.join(keys)} may be given", (keys[1],), kind="InvalidTemplateVersion"
        )
    else:
        key = keys[0]
        version = by_name().get((key, str(named[key])))
        if version is not None:
            return version
        known = [value for name, value in by_name() if name == key]
        problems.add(
            "version",
            f"The template version is invalid: unknown {key} {data[key]!r}",
            (key,),
            hint=f"use one of {', '.join(known)}",
            kind="InvalidTemplateVersion",
        )
    raise TemplateInvalid(problems.sorted())


def _without_version(data: Mapping[str, Any]) -> str:
    """Return the hint for data without a version, which may be an environment that is given as a template."""
    if data and all(name in ENVIRONMENT_SECTIONS for name in data):
        return "this seems to be an environment: give it beside a template, as with -e"
    return "begin it with heat_template_version: 2021-04-16"


def read_transform(data: Mapping[str, Any], version: Version, problems: Problems) -> Version:
    """Return the version extended by the template's transforms; add a problem for each unsupported transform."""
    written = version.dialect.sections.get("transform")
    declared = data.get(written) if written else None
    if declared is None:
        return version
    for name in declared if isinstance(declared, list) else [declared]:
        if not isinstance(name, str) or name not in version.transforms:
            hint = (
                f"use {', '.join(version.transforms)}; expand other transforms with AWS and use the resulting template"
            )
            problems.add("transform", f"the transform {name!r} is not supported", (str(written),), hint=hint)
    return version.extended


def check_section_names(data: Mapping[str, object], version: Version, problems: Problems) -> None:
    """Add a problem for each section that the version does not have."""
    for name in data:
        if name not in version.sections:
            elsewhere = [other.value for other in versions() if other.key == version.key and name in other.sections]
            hint = f"it exists from {elsewhere[0]} on" if elsewhere else suggestion(name, version.sections)
            if name in TRANSFERS and version.dialect.name == "hot":
                hint = f"{hint}; the environment can have it with each version"
            problems.add("section", f"unknown section {name!r}", (Key(name),), hint=hint)


def section(data: Mapping[str, object], version: Version, name: str, problems: Problems) -> Mapping[str, object]:
    """Return the section with the HOT name `name`, by entry; empty if it is missing or not a map."""
    written = version.dialect.sections.get(name)
    found = data.get(written) if written in version.sections else None
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        problems.add("section", f"must be a map, not {type_name(found)}", (str(written),))
        return {}
    return found


def read_transfers(data: Mapping[str, object], version: Version, document: Document, problems: Problems) -> Transfers:
    """Return the entries of the sections `imports`, `moved` and `removed`."""
    found = {name: data[name] for name in TRANSFERS if name in version.sections and data.get(name) is not None}
    if not found:
        return NO_TRANSFERS
    mistakes = list(transfer_problems(found, document.source))
    for name, entries in found.items():
        if not isinstance(entries, list):
            problems.add("section", f"must be a list, not {type_name(entries)}", (name,))
            return NO_TRANSFERS
    if mistakes:
        problems.add_all(replace(item, position=document.locate(item.path)) for item in mistakes)
        return NO_TRANSFERS
    read = Transfers.of(found, document.source).located(lambda _, path: document.locate(path))
    problems.add_all(read.conflicts())
    return read


def read_parameters(
    entries: Mapping[str, Any], version: Version, path: Path, limits: Limits, problems: Problems
) -> dict[str, ParameterSchema]:
    """Return the declared parameters by name; those whose declaration is invalid are not `sound`."""
    schemas = {}
    for name, raw in entries.items():
        schemas[name], found = parameter.parse(name, raw, version)
        problems.add_all(replace(item, path=(*path, name, *item.path)) for item in found)
    return schemas


def read_parameter_groups(
    raw: object, declared: Mapping[str, object], problems: Problems
) -> Sequence[Mapping[str, object]]:
    """Return the parameter groups as written."""
    path = ("parameter_groups",)
    if not raw:
        return ()
    if not isinstance(raw, list):
        problems.add("parameter-groups", f"must be a list, not {type_name(raw)}", path)
        return ()
    seen: set[str] = set()
    for index, group in enumerate(raw):
        _check_group(group, (*path, index), declared, seen, problems)
    return raw


def _check_group(group: object, path: Path, declared: Mapping[str, object], seen: set[str], problems: Problems) -> None:
    if not isinstance(group, Mapping):
        problems.add("parameter-groups", f"a group must be a map, not {type_name(group)}", path)
        return
    names = group.get("parameters")
    if not isinstance(names, list):
        problems.add("parameter-groups", "a group needs parameters: a list of their names", path)
        return
    for index, name in enumerate(names):
        place = (*path, "parameters", index)
        if not isinstance(name, str) or name not in declared:
            problems.add("parameter-groups", f"there is no parameter {name!r}", place, hint=suggestion(name, declared))
        elif name in seen:
            problems.add("parameter-groups", f"the parameter {name!r} is in more than one group", place)
        else:
            seen.add(name)


def check_mappings(entries: Mapping[str, Any], path: Path, problems: Problems) -> None:
    """Add a problem for each mapping that is not a map of maps."""
    for name, mapping in entries.items():
        if not isinstance(mapping, Mapping):
            problems.add("mapping", f"a mapping must be a map of maps, not {type_name(mapping)}", (*path, name))
