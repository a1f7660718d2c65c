"""A template: its sections checked for structure, its values compiled, shared by every stack that uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.base.errors import RequestLimitExceeded
from stoker.template.compiler import TemplateCompiler
from stoker.template.document import Document
from stoker.template.entries import EntryReader
from stoker.template.limits import DEFAULT_LIMITS, Limits
from stoker.template.parameter import ParameterSchema
from stoker.template.parts import OutputTemplate, ResourceTemplate
from stoker.template.problems import Problems
from stoker.template.sections import (
    check_mappings,
    check_section_names,
    read_parameter_groups,
    read_parameters,
    read_version,
    section,
)
from stoker.template.versions import EMPTY_TEMPLATE, Dialect, Version

_NO_DESCRIPTION = "No description"


class Template:
    """Read-only. `resources` and `outputs` are all that are declared, whatever their conditions say."""

    __slots__ = (
        "conditions",
        "description",
        "document",
        "limits",
        "mappings",
        "outputs",
        "parameter_groups",
        "parameters",
        "resources",
        "used_functions",
        "version",
    )

    document: Document
    version: Version
    description: str
    parameters: Mapping[str, ParameterSchema]
    parameter_groups: Sequence[Mapping[str, Any]]
    mappings: Mapping[str, Any]
    conditions: Mapping[str, Any]
    resources: Mapping[str, ResourceTemplate]
    outputs: Mapping[str, OutputTemplate]
    used_functions: frozenset[str]
    limits: Limits

    @classmethod
    def load(
        cls,
        document: Document | str | Mapping[str, Any],
        *,
        source: str = "template",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Template:
        """The template that a document, a text or plain data holds.

        Raises TemplateInvalid with everything that is structurally wrong, RequestLimitExceeded for what is too large.
        """
        if not isinstance(document, Document):
            document = Document.parse(document, source=source, limits=limits)
        problems = Problems(document)
        template = cls()
        template._read(document, problems, limits)
        problems.raise_if_any()
        return template

    @classmethod
    def empty(cls) -> Template:
        """A template without resources."""
        return cls.load(EMPTY_TEMPLATE)

    @property
    def dialect(self) -> Dialect:
        """How the template spells things."""
        return self.version.dialect

    @property
    def data(self) -> Mapping[str, Any]:
        """The template as plain data."""
        return self.document.data

    def uses(self, function: str) -> bool:
        """Whether the function is called anywhere, by the name that the template calls it."""
        return function in self.used_functions

    def written(self, section_name: str) -> str:
        """What the template calls one of our sections: `resources` → `Resources`."""
        return self.dialect.sections[section_name]

    def _read(self, document: Document, problems: Problems, limits: Limits) -> None:
        data = document.data
        self.document = document
        self.limits = limits
        self.version = version = read_version(data, problems)
        check_section_names(data, version, problems)
        parts = {
            name: section(data, version, name, problems)
            for name in ("parameters", "mappings", "conditions", "resources", "outputs")
            if name in version.dialect.sections
        }
        _refuse_count(len(parts["resources"]), limits)
        self.description = _description(data, version)
        self.parameters = read_parameters(parts["parameters"], version, (self.written("parameters"),), problems)
        groups = data.get("parameter_groups") if "parameter_groups" in version.sections else None
        self.parameter_groups = read_parameter_groups(groups, parts["parameters"], problems)
        self.mappings = parts.get("mappings", {})
        check_mappings(self.mappings, ("Mappings",), problems)
        compiler = TemplateCompiler(version, frozenset(parts["conditions"]), problems)
        entries = EntryReader(version, compiler, problems)
        self.conditions = entries.conditions(parts["conditions"], (self.written("conditions"),))
        self.resources = entries.resources(parts["resources"], (self.written("resources"),))
        self.outputs = entries.outputs(parts["outputs"], (self.written("outputs"),))
        self.used_functions = frozenset(compiler.used)
        self._check_shared_names(parts["parameters"], problems)

    def _check_shared_names(self, declared: Mapping[str, Any], problems: Problems) -> None:
        for name in self.resources:
            if name in declared:
                path = (self.written("resources"), name)
                problems.add("duplicate-name", f"there is also a parameter {name!r}", path, hint="rename one of them")


def _refuse_count(count: int, limits: Limits) -> None:
    if 0 <= limits.max_resources_per_stack < count:
        raise RequestLimitExceeded(
            f"The template has {count} resources; "
            f"at most {limits.max_resources_per_stack} are allowed (max_resources_per_stack)."
        )


def _description(data: Mapping[str, Any], version: Version) -> str:
    value = data.get(version.dialect.sections["description"])
    return _NO_DESCRIPTION if value is None else str(value)
