"""Reading the sections of a template, noting every structural problem.

Each reader takes the section's data and returns what could be made of it; what could not is in `problems`.
Rules: facts engine.yaml (template_validation.cases) and template_versions.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker.base.diagnostics import Path
from stoker.base.errors import TemplateInvalid
from stoker.template import parameter
from stoker.template.formats import named_formats
from stoker.template.limits import Limits
from stoker.template.parameter import ParameterSchema
from stoker.template.problems import Problems, suggestion, type_name
from stoker.template.versions import BY_NAME, VERSIONS, Version


def read_version(data: Mapping[str, Any], problems: Problems) -> Version:
    """The format that the template says it is written in; raises TemplateInvalid, for nothing else can be read then."""
    named = named_formats(data)
    keys = list(named)
    if not keys:
        message = "the template does not say which version it is written in"
        problems.add("version", message, hint="begin it with heat_template_version: 2021-04-16", kind="ValueError")
    elif len(keys) > 1:
        problems.add(
            "version", f"only one of {' and '.join(keys)} may be given", (keys[1],), kind="InvalidTemplateVersion"
        )
    else:
        key = keys[0]
        version = BY_NAME.get((key, str(named[key])))
        if version is not None:
            return version
        known = [value for name, value in BY_NAME if name == key]
        problems.add(
            "version",
            f"The template version is invalid: there is no {key} {data[key]!r}",
            (key,),
            hint=f"known are {', '.join(known)}",
            kind="InvalidTemplateVersion",
        )
    raise TemplateInvalid(problems.sorted())


def read_transform(data: Mapping[str, Any], version: Version, problems: Problems) -> Version:
    """The version with what the template's transforms bring; other transforms than ours are noted."""
    written = version.dialect.sections.get("transform")
    declared = data.get(written) if written else None
    if declared is None:
        return version
    for name in declared if isinstance(declared, list) else [declared]:
        if not isinstance(name, str) or name not in version.transforms:
            hint = f"known is {', '.join(version.transforms)}; have AWS expand others, and use what comes out"
            problems.add("transform", f"the transform {name!r} is not supported", (str(written),), hint=hint)
    return version.extended


def check_section_names(data: Mapping[str, Any], version: Version, problems: Problems) -> None:
    """Note sections that the version does not have."""
    for name in data:
        if name not in version.sections:
            elsewhere = [other.value for other in VERSIONS if other.key == version.key and name in other.sections]
            hint = f"it exists from {elsewhere[0]} on" if elsewhere else suggestion(name, version.sections)
            problems.add("section", f"unknown section {name!r}", (name,), hint=hint)


def section(data: Mapping[str, Any], version: Version, name: str, problems: Problems) -> Mapping[str, Any]:
    """The section that our word `name` stands for, by entry; empty when it is missing or not a map."""
    written = version.dialect.sections.get(name)
    found = data.get(written) if written in version.sections else None
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        problems.add("section", f"must be a map, not {type_name(found)}", (str(written),))
        return {}
    return found


def read_parameters(
    entries: Mapping[str, Any], version: Version, path: Path, limits: Limits, problems: Problems
) -> dict[str, ParameterSchema]:
    """The declared parameters by name."""
    schemas = {}
    for name, raw in entries.items():
        schema, found = parameter.parse(name, raw, version)
        problems.add_all(replace(item, path=(*path, name, *item.path)) for item in found)
        if schema is not None:
            schemas[name] = schema
    return schemas


def read_parameter_groups(raw: Any, declared: Mapping[str, Any], problems: Problems) -> Sequence[Mapping[str, Any]]:
    """The parameter groups as written."""
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


def _check_group(group: Any, path: Path, declared: Mapping[str, Any], seen: set[str], problems: Problems) -> None:
    if not isinstance(group, Mapping):
        problems.add("parameter-groups", f"a group is a map, not {type_name(group)}", path)
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
    """Note mappings that are not maps of maps."""
    for name, mapping in entries.items():
        if not isinstance(mapping, Mapping):
            problems.add("mapping", f"a mapping is a map of maps, not {type_name(mapping)}", (*path, name))
