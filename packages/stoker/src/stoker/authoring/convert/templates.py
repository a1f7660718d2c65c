"""Convert whole templates: sections, resources, outputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from stoker.authoring.convert import CFN, HOT, to_cfn, to_hot
from stoker.authoring.convert.parameters import MAPPING_TAG, Note, cfn_parameter, hot_parameter
from stoker.authoring.convert.walker import LOOP, Walker
from stoker.authoring.layout import layout
from stoker.base.diagnostics import Diagnostic, Path
from stoker.template.document import VERSION_KEYS
from stoker.template.template import Template
from stoker.template.versions import AWS_2010_09_09, HOT_2021_04_16, Version

TARGETS = {
    HOT: HOT_2021_04_16,
    CFN: AWS_2010_09_09,
}
_LANGUAGES = {HOT: "HOT", CFN: "CloudFormation"}
_CALLS = {HOT: to_hot.CALLS, CFN: to_cfn.CALLS}
_PARAMETERS = {HOT: hot_parameter, CFN: cfn_parameter}
_CONVERTED_SECTIONS = ("description", "parameters", "mappings", "conditions", "resources", "outputs")


@dataclass(frozen=True, slots=True)
class Conversion:
    """The converted data, and the parts that could not be converted, with positions in the template.

    Parts that cannot be converted are left unchanged in the data.
    """

    data: Mapping[str, Any]
    problems: list[Diagnostic] = field(default_factory=list)


def convert(template: Template, to: str) -> Conversion:
    """Convert a template to the dialect `to`, HOT or CFN; return it unchanged if it is in that dialect already."""
    if (template.dialect.name == HOT) == (to == HOT):
        return Conversion(template.data)
    conversion = _Conversion(template, to)
    return Conversion(conversion.data(), conversion.walker.problems)


class _Conversion:
    def __init__(self, template: Template, to: str) -> None:
        self._template = template
        self._source = template.version
        self._target: Version = TARGETS[to]
        self._language = _LANGUAGES[to]
        self._parameter = _PARAMETERS[to]
        self.walker = Walker(template, self._target, _CALLS[to], [])

    def data(self) -> dict[str, Any]:
        """Return the whole template."""
        self._note_other_sections()
        template, written = self._template, self._target.dialect.sections
        result: dict[str, Any] = {self._target.key: self._target.value}
        if (description := template.data.get(template.written("description"))) is not None:
            result[written["description"]] = description
        sections = {
            "parameters": {**self._parameters(), **self._mapping_parameters()},
            "mappings": self._mappings(),
            "conditions": self._conditions(),
            "resources": self._entries("resources", self._resource),
            "outputs": self._entries("outputs", self._output),
        }
        return result | {written[name]: entries for name, entries in sections.items() if entries}

    def _note_other_sections(self) -> None:
        known = {self._source.dialect.sections.get(name) for name in _CONVERTED_SECTIONS} | {*VERSION_KEYS}
        for name in self._template.data:
            if name not in known:
                self.walker.note(f"{self._language} has no equivalent of the section {name}", (name,))

    def _parameters(self) -> dict[str, object]:
        section = self._template.written("parameters")
        return {
            name: self._parameter(schema, self._noting((section, name)))
            for name, schema in self._template.parameters.items()
            if not to_cfn.is_mapping(schema)
        }

    def _noting(self, path: Path) -> Note:
        return lambda message: self.walker.note(message, path)

    def _mapping_parameters(self) -> dict[str, object]:
        """Return mappings as parameters with defaults, in which HOT can look up values."""
        return {
            to_hot.mapping_parameter(self._template, name): {
                "type": "json",
                "description": f"The mapping {name}.",
                "default": table,
                "tags": [MAPPING_TAG],
            }
            for name, table in self._template.mappings.items()
        }

    def _mappings(self) -> dict[str, object]:
        """Return the parameters that were converted from mappings."""
        return {name: schema.default for name, schema in self._template.parameters.items() if to_cfn.is_mapping(schema)}

    def _conditions(self) -> dict[str, object]:
        return self._entries("conditions", self.walker.condition)

    def _entries(self, name: str, convert: Callable[[Any, Path], Any]) -> dict[str, Any]:
        section = self._source.dialect.sections[name]
        entries = self._template.data.get(section) or {}
        result = {}
        for key, entry in entries.items():
            if key.startswith(LOOP):
                self.walker.note("HOT has no loops over resources, outputs and conditions", (section, key))
            result[key] = entry if key.startswith(LOOP) else convert(entry, (section, key))
        return result

    def _resource(self, entry: Mapping[str, object], path: Path) -> dict[str, object]:
        return self._keys(entry, path, self._source.dialect.resource_keys, self._target.dialect.resource_keys)

    def _output(self, entry: Mapping[str, object], path: Path) -> dict[str, Any]:
        return self._keys(entry, path, self._source.dialect.output_keys, self._target.dialect.output_keys)

    def _keys(
        self, entry: Mapping[str, object], path: Path, source: Mapping[str, str], target: Mapping[str, str]
    ) -> dict[str, object]:
        """Return an entry with its keys converted."""
        words = {written: word for word, written in source.items()}
        result = {}
        for key, value in entry.items():
            word = words.get(key, "")
            if word not in target or (word == "export"):
                self.walker.note(f"{self._language} has no equivalent of {key} here", (*path, key))
            else:
                result[target[word]] = self._field(word, value, (*path, key))
        return result

    def _field(self, word: str, value: object, path: Path) -> object:
        if word == "condition":
            return self.walker.condition(value, path)
        if word == "deletion_policy" and isinstance(value, str):
            policies = {own: name for name, own in self._target.deletion_policies.items()}
            policy = self._source.deletion_policies[value]
            if policy not in policies:  # the one that also depends on who created the object
                self.walker.note(f"{self._language} has no deletion policy {value}; Retain is the nearest", path)
                policy = "Retain"
            return policies[policy]
        return self.walker.value(value, path)


# -- text --------------------------------------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Writes multi-line strings as block scalars, and no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value.rstrip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _text)


def to_yaml(data: Mapping[str, object]) -> str:
    """Return the data as formatted YAML."""
    written = yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return layout(written, sort=True)


def to_json(data: Mapping[str, object]) -> str:
    """Return the data as JSON."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
