"""A template: its sections checked for structure, its values compiled, shared by every stack that uses it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from stoker.base.budget import ensured
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.template.assertions import RuleTemplate, read_rules
from stoker.template.compiler import TemplateCompiler
from stoker.template.definition_parts import TemplateStructure
from stoker.template.document import Document
from stoker.template.limits import DEFAULT_LIMITS, Limits
from stoker.template.loops import Expander, LoopProblem, ParameterBinding, is_loop
from stoker.template.parameter import ParameterSchema
from stoker.template.parameters import Parameters
from stoker.template.parts import OutputTemplate, ResourceTemplate
from stoker.template.problems import Problems
from stoker.template.sections import (
    EntryReader,
    check_mappings,
    check_section_names,
    read_parameter_groups,
    read_parameters,
    read_transfers,
    read_transform,
    read_version,
    section,
)
from stoker.template.transfers import Transfers
from stoker.template.versions import EMPTY_TEMPLATE, Dialect, Version

_SECTIONS = ("parameters", "mappings", "conditions", "rules", "resources", "outputs")
_LOOP_SECTIONS = ("conditions", "resources", "outputs")

NO_DESCRIPTION = "No description"
"""The description that the API shows for a template without one, as in Heat."""

Schemas = Mapping[str, ParameterSchema]


class Template:
    """A parsed and compiled template. Read-only. `resources` and `outputs` contain all declared entries, whatever their
    conditions.

    Loops (Fn::ForEach) are expanded with the parameters' defaults; `for_parameters` returns the template for other
    values. `loops` are the compiled collections of all loops. `transfers` are the entries of its sections `imports`,
    `moved` and `removed`. `structures` are what definitions of it have in common, by what its conditions have decided.
    """

    __slots__ = (
        "conditions",
        "description",
        "document",
        "limits",
        "loops",
        "mappings",
        "outputs",
        "parameter_groups",
        "parameters",
        "resources",
        "rules",
        "structures",
        "transfers",
        "used_functions",
        "version",
    )

    document: Document
    version: Version
    description: str
    parameters: Mapping[str, ParameterSchema]
    parameter_groups: Sequence[Mapping[str, object]]
    mappings: Mapping[str, object]
    conditions: Mapping[str, object]
    resources: Mapping[str, ResourceTemplate]
    outputs: Mapping[str, OutputTemplate]
    rules: Mapping[str, RuleTemplate]
    loops: Sequence[object]
    structures: dict[Hashable, TemplateStructure]
    transfers: Transfers
    used_functions: frozenset[str]
    limits: Limits

    @classmethod
    def load(
        cls,
        document: Document | str | Mapping[str, object],
        *,
        source: str = "template",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Template:
        """Load a template from a document, a string or plain data.

        Raises TemplateInvalid with all structural problems, RequestLimitExceeded if the template is too large.
        """
        template, problems = cls.examine(document, source=source, limits=limits)
        if problems:
            raise TemplateInvalid(problems)
        return template

    @classmethod
    def examine(
        cls,
        document: Document | str | Mapping[str, object],
        *,
        source: str = "template",
        limits: Limits = DEFAULT_LIMITS,
    ) -> tuple[Template, list[Diagnostic]]:
        """Return a template that may have mistakes, and all its structural problems.

        With problems, the template serves only to find more of them: a parameter whose declaration is invalid is not
        `sound`, a resource that is not a map has no type, and other invalid parts are missing.

        Raises TemplateInvalid with the problems if nothing else can be known, since the document has no data, no
        version or no proper sections, and RequestLimitExceeded if the template is too large.
        """
        with ensured(limits.allowed):
            if not isinstance(document, Document):
                document = Document.parse(document, source=source, limits=limits)
            return cls._examine(document, limits, lambda schemas: Parameters(schemas, {}, {}, {}))

    @classmethod
    def _examine(
        cls, document: Document, limits: Limits, parameters: Callable[[Schemas], Parameters]
    ) -> tuple[Template, list[Diagnostic]]:
        template = cls()
        problems = template._read(document, limits, parameters)
        return template, problems.sorted()

    def for_parameters(self, parameters: Parameters) -> Template:
        """Return the template with loops expanded for these values: this one if it has no loops.

        Raises TemplateInvalid for a loop that cannot be expanded, and for mistakes in the result.
        """
        if not self.loops:
            return self
        template, problems = self._examine(self.document, self.limits, lambda _: parameters)
        if problems:
            raise TemplateInvalid(problems)
        return template

    @classmethod
    def empty(cls) -> Template:
        """Return a template without resources."""
        return cls.load(EMPTY_TEMPLATE)

    @property
    def dialect(self) -> Dialect:
        """The template's names of sections and keys."""
        return self.version.dialect

    @property
    def data(self) -> Mapping[str, Any]:
        """The template as plain data."""
        return self.document.data

    @property
    def hides(self) -> bool:
        """Whether any parameter is hidden."""
        return any(schema.hidden for schema in self.parameters.values())

    def uses(self, function: str) -> bool:
        """Return whether the template calls the function `function`, by its name in the template's format."""
        return function in self.used_functions

    def written(self, section_name: str) -> str:
        """Return the template's name of the section with the HOT name `section_name`: `resources` → `Resources`."""
        return self.dialect.sections[section_name]

    def _read(self, document: Document, limits: Limits, parameters: Callable[[Schemas], Parameters]) -> Problems:
        data = document.data
        problems = Problems(document, limits.max_problems)
        self.limits, self.structures = limits, {}
        self.version = version = read_version(data, problems)
        self.version = version = read_transform(data, version, problems)
        check_section_names(data, version, problems)
        self.description = _description(data, version)
        parts = {name: section(data, version, name, problems) for name in _SECTIONS}
        whole = not problems
        self.parameters = read_parameters(parts["parameters"], version, (self.written("parameters"),), limits, problems)
        groups = data.get("parameter_groups") if "parameter_groups" in version.sections else None
        self.parameter_groups = read_parameter_groups(groups, parts["parameters"], problems)
        self.transfers = read_transfers(data, version, document, problems)
        self.mappings = parts["mappings"]
        check_mappings(self.mappings, ("Mappings",), problems)
        self.document = self._without_loops(document, parts, parameters(self.parameters), problems)
        problems.move_to(self.document)
        _refuse_count(len(parts["resources"]), limits)
        self._read_entries(parts, problems)
        if not whole:
            problems.raise_if_any()
        return problems

    def _without_loops(
        self, document: Document, parts: dict[str, Mapping[str, object]], parameters: Parameters, problems: Problems
    ) -> Document:
        """Expand loops in `parts`; return the document that knows the origins of the copies."""
        self.loops = ()
        if not self.version.transformed:
            self._refuse_loops(parts, problems)
            return document
        compiler = TemplateCompiler(self.version, frozenset(), problems)
        names = frozenset(self.parameters)
        binding = ParameterBinding(self.limits, self.mappings, names, parameters.fit)
        expander = Expander(binding, compiler.value)
        for name in _LOOP_SECTIONS:
            try:
                parts[name] = expander.expand(parts[name], (self.written(name),))
            except LoopProblem as problem:
                problems.add_all([problem.diagnostic])
                parts[name] = {}
        self.loops = tuple(expander.collections)
        return document.with_origins(expander.origins)

    def _refuse_loops(self, parts: dict[str, Mapping[str, object]], problems: Problems) -> None:
        for name in _LOOP_SECTIONS if self.version.transforms else ():
            loops = [key for key in parts[name] if is_loop(key)]
            for key in loops:
                hint = f"add Transform: {' or '.join(self.version.transforms)}"
                problems.add("needs-transform", "Fn::ForEach needs a transform", (self.written(name), key), hint=hint)
            parts[name] = {key: value for key, value in parts[name].items() if key not in loops}

    def _read_entries(self, parts: Mapping[str, Mapping[str, object]], problems: Problems) -> None:
        version = self.version
        compiler = TemplateCompiler(version, frozenset(parts["conditions"]), problems)
        self.rules = read_rules(parts["rules"], ("Rules",), compiler, problems)
        entries = EntryReader(version, compiler, problems)
        self.conditions = entries.conditions(parts["conditions"], (self.written("conditions"),))
        self.resources = entries.resources(parts["resources"], (self.written("resources"),))
        self.outputs = entries.outputs(parts["outputs"], (self.written("outputs"),))
        self.used_functions = frozenset(compiler.used)
        self._check_shared_names(parts["parameters"], problems)

    def _check_shared_names(self, declared: Mapping[str, object], problems: Problems) -> None:
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


def _description(data: Mapping[str, object], version: Version) -> str:
    value = data.get(version.dialect.sections["description"])
    return "" if value is None else str(value)
