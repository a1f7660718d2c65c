"""Readers of the sections of a template and of their entries, which report every structural problem.

Each reader takes the section's data, returns the valid part of it, and adds the mistakes to `problems`. The values of
conditions, resources and outputs are compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from stoker.base.diagnostics import Key, Path
from stoker.base.errors import TemplateInvalid
from stoker.template import parameter
from stoker.template.compiler import TemplateCompiler
from stoker.template.document import Document, named_formats
from stoker.template.environment import NO_TRANSFERS
from stoker.template.environment import SECTIONS as ENVIRONMENT_SECTIONS
from stoker.template.expressions import Expression, Malformed
from stoker.template.functions.base import Function
from stoker.template.functions.conditions import ConditionName, ConditionResult, Connective
from stoker.template.ignored_drift import property_path
from stoker.template.limits import Limits
from stoker.template.ordering import topological
from stoker.template.parameter import ParameterSchema
from stoker.template.parts import OutputTemplate, ResourceTemplate
from stoker.template.problems import Problems, suggestion, type_name
from stoker.template.transfers import TRANSFERS, Transfers, transfer_problems
from stoker.template.versions import AWS, Version, by_name, versions


def read_version(data: Mapping[str, object], problems: Problems) -> Version:
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


def _without_version(data: Mapping[str, object]) -> str:
    """Return the hint for data without a version, which may be an environment that is given as a template."""
    if data and all(name in ENVIRONMENT_SECTIONS for name in data):
        return "this seems to be an environment: give it beside a template, as with -e"
    return "begin it with heat_template_version: 2021-04-16"


def read_transform(data: Mapping[str, object], version: Version, problems: Problems) -> Version:
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
    entries: Mapping[str, object], version: Version, path: Path, limits: Limits, problems: Problems
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


def check_mappings(entries: Mapping[str, object], path: Path, problems: Problems) -> None:
    """Add a problem for each mapping that is not a map of maps."""
    for name, mapping in entries.items():
        if not isinstance(mapping, Mapping):
            problems.add("mapping", f"a mapping must be a map of maps, not {type_name(mapping)}", (*path, name))


class EntryReader:
    """Reads entries with one compiler; reports problems to the same place as the compiler."""

    def __init__(self, version: Version, compiler: TemplateCompiler, problems: Problems) -> None:
        self._version = version
        self._compiler = compiler
        self._problems = problems

    # -- conditions -------------------------------------------------------------------------------------------

    def conditions(self, entries: Mapping[str, Any], path: Path) -> dict[str, object]:
        """Return compiled conditions by name, required ones first; add a problem for a cycle."""
        compiled = {
            name: self._compiler.definition_of_condition(snippet, (*path, name)) for name, snippet in entries.items()
        }
        order, cycle = topological({name: _names_in(node) for name, node in compiled.items()})
        if cycle:
            message = f"the condition {cycle[0]!r} depends on itself: {' → '.join([*cycle, cycle[0]])}"
            self._problems.add("condition-cycle", message, (*path, cycle[0]))
            return compiled
        return {name: compiled[name] for name in order}

    def _condition(self, raw: Mapping[str, object], keys: Mapping[str, str], path: Path) -> object:
        key = keys.get("condition", "")
        snippet = raw.get(key)
        if snippet is None or key not in self._version.resource_keys | self._version.output_keys:
            return True
        return self._compiler.condition(snippet, (*path, key))

    # -- resources --------------------------------------------------------------------------------------------

    def resources(self, entries: Mapping[str, object], path: Path) -> dict[str, ResourceTemplate]:
        """Return the resources by name; add a problem for each mistake. The type of an invalid one can be empty."""
        keys = self._version.resource_keys
        misplaced = {
            name
            for name, raw in entries.items()
            if name in keys and not (isinstance(raw, Mapping) and self._version.dialect.resource_keys["type"] in raw)
        }
        for name in misplaced:
            hint = "indent it to make it a part of the resource above it"
            self._problems.add("resource", f"{name} is on the level of the resources", (*path, Key(name)), hint=hint)
        return {
            name: self._resource(name, raw, (*path, name)) for name, raw in entries.items() if name not in misplaced
        }

    def _resource(self, name: str, raw: object, path: Path) -> ResourceTemplate:
        if "/" in name:
            self._problems.add("resource-name", "the name of a resource must not contain '/'", path)
        if not name.isprintable():
            self._problems.add("resource-name", "the name of a resource must not contain control characters", path)
        if not isinstance(raw, Mapping):
            self._problems.add("resource", f"a resource must be a map with a type, not {type_name(raw)}", path)
            raw, type_written = {}, ""
        else:
            self._check_keys(raw, path)
            type_written = self._type(raw, self._version.dialect.resource_keys["type"], path)
        keys = self._version.dialect.resource_keys
        condition = self._condition(raw, keys, path)
        with nullcontext() if condition is True else self._compiler.deferring():
            fields = {
                name: self._field(raw, key, allowed, path)
                for name, allowed in _FIELDS.items()
                if (key := keys.get(name)) is not None
            }
        return ResourceTemplate(
            name=name,
            type=type_written,
            source=raw,
            properties=_or_empty(fields["properties"]),
            metadata=_or_empty(fields["metadata"]),
            update_policy=_or_empty(fields["update_policy"]),
            creation_policy=_or_empty(fields.get("creation_policy")),
            update_replace_policy=self._update_replace_policy(raw, keys.get("update_replace_policy", ""), path),
            deletion_policy=self._deletion_policy(fields["deletion_policy"], (*path, keys["deletion_policy"])),
            external_id=fields.get("external_id"),
            depends_on=self._depends_on(raw.get(keys["depends_on"]), (*path, keys["depends_on"])),
            condition=condition,
            description=_text(raw.get(keys["description"])),
            ignore_drift=self._ignore_drift(raw, keys.get("ignore_drift", ""), path),
        )

    def _check_keys(self, raw: Mapping[str, object], path: Path) -> None:
        version = self._version
        if version.dialect.unknown_resource_keys_allowed:
            return
        for key in raw:
            if key not in version.resource_keys:
                hint = suggestion(key, version.resource_keys)
                if key in version.dialect.resource_keys:
                    hint = f"{version.name} does not have it; use a newer version"
                self._problems.add("resource-key", f"a resource has no key {key!r}", (*path, Key(key)), hint=hint)

    def _type(self, raw: Mapping[str, object], key: str, path: Path) -> str:
        value = raw.get(key)
        if not value:
            self._problems.add("resource-type", "the resource's type is missing", path)
        elif not isinstance(value, str):
            self._problems.add("resource-type", f"the type must be a string, not {type_name(value)}", (*path, key))
        return value if isinstance(value, str) else ""

    def _field(self, raw: Mapping[str, object], key: str, allowed: tuple[type, ...], path: Path) -> object:
        if key not in self._version.resource_keys or (raw.get(key) is None and not self._is_null(raw, key)):
            return None
        compiled = self._compiler.value(raw[key], (*path, key))
        if not isinstance(compiled, Function | Malformed) and not isinstance(raw[key], allowed):
            expected = "a map" if dict in allowed else "a string"
            self._problems.add("resource-field", f"must be {expected}, not {type_name(raw[key])}", (*path, key))
            return None
        return compiled

    def _is_null(self, raw: Mapping[str, object], key: str) -> bool:
        """Return whether the key has a null value that Heat refuses: only properties must not be null."""
        return key in raw and key == self._version.dialect.resource_keys["properties"]

    def _deletion_policy(self, compiled: Any, path: Path) -> object:
        if compiled is None:
            return "Delete"
        if isinstance(compiled, Expression):
            return compiled
        policies = self._version.deletion_policies
        if compiled not in policies:
            self._problems.add(
                "deletion-policy",
                f"there is no deletion policy {compiled!r}",
                path,
                hint=suggestion(compiled, policies),
            )
        return policies.get(compiled, "Delete")

    def _update_replace_policy(self, raw: Mapping[str, object], key: str, path: Path) -> str | None:
        """The policy as written: as with AWS, no function is called there. None when there is none."""
        written = raw.get(key) if key in self._version.resource_keys else None
        if written is None:
            return None
        policies = self._version.replace_policies
        if isinstance(written, str) and written in policies:
            return policies[written]
        if isinstance(written, str):
            message, hint = f"there is no update replace policy {written!r}", suggestion(written, policies)
        else:
            message = f"an update replace policy is a literal string, not {type_name(written)}"
            hint = f"write one of {', '.join(policies)}; functions are not called here"
        self._problems.add("update-replace-policy", message, (*path, key), hint=hint)
        return None

    def _depends_on(self, raw: object, path: Path) -> tuple[str, ...]:
        if raw is None:
            return ()
        names = [raw] if isinstance(raw, str) else raw
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            self._problems.add("depends-on", "must be the name of a resource or a list of names", path)
            return ()
        return tuple(names)

    def _ignore_drift(self, raw: Mapping[str, object], key: str, path: Path) -> tuple[str, ...]:
        """The paths as written: no function is called there."""
        written = raw.get(key) if key in self._version.resource_keys else None
        if written is None:
            return ()
        path = (*path, key)
        if not isinstance(written, list) or not all(isinstance(each, str) for each in written):
            hint = "such as [metadata, tags]; functions are not called here"
            self._problems.add("ignore-drift", "must be a list of paths of properties", path, hint=hint)
            return ()
        found: list[str] = []
        for index, text in enumerate(written):
            try:
                property_path(text)
            except ValueError as error:
                self._problems.add("ignore-drift", str(error), (*path, index))
            else:
                found.append(text)
        return tuple(found)

    # -- outputs ----------------------------------------------------------------------------------------------

    def outputs(self, entries: Mapping[str, Any], path: Path) -> dict[str, OutputTemplate]:
        """Return the valid outputs by key; add a problem for each mistake."""
        keys = self._version.dialect.output_keys
        found = {}
        for name, raw in entries.items():
            place = (*path, name)
            if not isinstance(raw, Mapping):
                self._problems.add("output", f"an output must be a map with a value, not {type_name(raw)}", place)
                continue
            if keys["value"] not in raw:
                self._problems.add("output", f"the output's {keys['value']} is missing", place)
                continue
            condition = self._condition(raw, keys, place)
            with nullcontext() if condition is True else self._compiler.deferring():
                value = self._compiler.value(raw[keys["value"]], (*place, keys["value"]))
            export = self._export(raw, keys.get("export", ""), place)
            description = self._output_description(raw.get(keys["description"]), (*place, keys["description"]))
            found[name] = OutputTemplate(name, description, value, condition, export)
        return found

    def _output_description(self, written: object, path: Path) -> str:
        """Return the description, which in templates of AWS must be a string; elsewhere Heat accepts any value."""
        if self._version.dialect is AWS and isinstance(written, Mapping | list):
            hint = "functions are not evaluated in descriptions; write the description literally"
            self._problems.add("output", f"a description must be a string, not {type_name(written)}", path, hint=hint)
        return _text(written)

    def _export(self, raw: Mapping[str, object], key: str, path: Path) -> object:
        export = raw.get(key) if key in self._version.output_keys else None
        if export is None:
            return None
        if not isinstance(export, Mapping) or set(export) != {"Name"}:
            self._problems.add("export", "an export must be a map with a Name", (*path, key))
            return None
        return self._compiler.value(export["Name"], (*path, key, "Name"))


_FIELDS: Mapping[str, tuple[type, ...]] = {
    "properties": (dict,),
    "metadata": (dict,),
    "update_policy": (dict,),
    "creation_policy": (dict,),
    "deletion_policy": (str,),
    "external_id": (str,),
}


def _or_empty(value: object) -> object:
    return {} if value is None else value


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _names_in(node: object) -> list[str]:
    """Return the names of the conditions that a compiled condition refers to."""
    if isinstance(node, ConditionName):
        return [node.name]
    if isinstance(node, ConditionResult):
        return _names_in(node.call)
    if isinstance(node, Connective) and node.arguments is not None:
        return [name for operand in node.arguments for name in _names_in(operand)]
    return []
