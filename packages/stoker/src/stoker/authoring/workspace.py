"""Templates with their environments and local files, as used by all tools of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from stoker.authoring.given_values import placed_where_given
from stoker.authoring.sources import Files, Sources, is_remote, read, resolve_path
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ChildRequest, ResourceType
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.document import Document
from stoker.template.environment import Environment, hides_types, unknown_strategies
from stoker.template.expressions import UNDETERMINED
from stoker.template.limits import DEFAULT_LIMITS, Limits
from stoker.template.packaged import packaged_environment
from stoker.template.parameter import ParameterSchema
from stoker.template.parameters import PseudoParameters
from stoker.template.problems import further
from stoker.template.registry import INVALID_TYPE, is_template_name
from stoker.template.template import Template

_PSEUDO = PseudoParameters(
    "00000000-0000-0000-0000-000000000000", "offline", "0" * 32, arn="arn:openstack:heat::offline:stacks/offline/0"
)


_REGISTRY = "resource_registry"


class Unchecked(ResourceType):
    """Placeholder for a type that is not known because the environment is wrong; nothing is reported about its use."""

    type_name = "(a type that is not known)"
    any_properties = True
    any_attribute = True
    unchecked = True


class NotRead(Unchecked):
    """Placeholder for a template that is not on this machine."""

    type_name = "(a template that is not read)"


class BoundTemplate:
    """A bound template; its names are relative to the folder of `files`, and it is `depth` levels below the root.

    A definition with `problems` serves only to find more of them: see `Definition.examine`.
    """

    def __init__(
        self, workspace: Workspace, definition: Definition, problems: Sequence[Diagnostic], files: Files, depth: int
    ) -> None:
        self.definition = definition
        self.problems = problems
        self.files = files
        self.depth = depth
        self._workspace = workspace

    def require_valid(self) -> Self:
        """Raise TemplateInvalid if there are problems."""
        if self.problems:
            raise TemplateInvalid(self.problems)
        return self

    def type_of(self, type_name: str, resource_name: str) -> ResourceType | None:
        """Return the type that a name refers to, or None. Raises TemplateInvalid for an invalid template."""
        implementation = self.definition.environment.registry.resolve(type_name, resource_name)
        if not is_template_name(implementation):
            return self._workspace.known_type(implementation)
        if is_remote(implementation):
            return self._workspace.template_type(implementation) or NotRead()
        # A registry entry is already relative to the working directory, a name in a template is relative to the
        # template.
        path = resolve_path(self.files.folder, implementation) if implementation == type_name else implementation
        return self._workspace.template_type(path)

    def kind_of(self, resource: ResourceDefinition) -> ResourceType | None:
        """Return the type of a resource; None if there is no usable one."""
        try:
            return self.type_of(resource.type, resource.name)
        except TemplateInvalid:
            return None

    def child(self, resource: ResourceDefinition, request: ChildRequest) -> BoundTemplate:
        """Return the nested stack of a resource. Raises TemplateInvalid or RequestLimitExceeded."""
        name = request.template_name
        examined = self._workspace.sources.examined(name) if name else Template.examine(request.template or {})
        return self._workspace.place(
            examined,
            self.definition.environment.for_child(resource.name, name),
            Files(str(Path(name).parent), self._workspace.within) if name else self.files,
            request.parameters,
            self.depth + 1,
        )


class Workspace:
    """Environments and parameters for templates, the resource types of a registry, and files on this machine."""

    def __init__(
        self,
        registry: Registry,
        environments: Sequence[str] = (),
        parameters: Mapping[str, Any] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        reader: Callable[[str], str] = read,
        within: Path | None = None,
        stack_name: str = "offline",
    ) -> None:
        """`reader` returns the content of a file by its path; it raises OSError or UnicodeDecodeError. Files that
        `get_file` names are read in the directory `within` only, if there is one. `stack_name` is the name that
        templates have as a pseudo parameter.
        """
        self.registry = registry
        self.within = within
        self._pseudo = replace(_PSEUDO, stack_name=stack_name)
        self.sources = Sources(limits, reader)
        self._environments = environments
        self._parameters = parameters or {}
        self._template_types: dict[str, ResourceType] = {}
        self._roots: set[str] = set()

    def root(self, path: str) -> BoundTemplate:
        """Return the bound template of a file; parameters without a value are unknown.

        Raises TemplateInvalid if nothing more can be known about the template than the problems in the error.
        """
        path = str(Path(path))
        self._roots.add(path)
        examined = self.sources.examined(path)
        environment, problems = self._environment(examined[0].parameters)
        place = self.place(
            examined, environment, Files(str(Path(path).parent), self.within), self._parameters, missing_ok=True
        )
        place.problems = [*problems, *place.problems]
        return place

    def placed(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return diagnostics, those about values of parameters with the place in the environment or the option."""
        documents = self._documents[0]
        return list(dict.fromkeys(placed_where_given(diagnostics, self._roots, documents, self._parameters)))

    def place(
        self,
        examined: tuple[Template, list[Diagnostic]],
        environment: Environment,
        files: Files,
        parameters: Mapping[str, Any],
        depth: int = 0,
        missing_ok: bool = False,
    ) -> BoundTemplate:
        """Bind a template, given with its problems, with its environment and files.

        Raises TemplateInvalid for a loop that cannot be expanded.
        """
        template, problems = examined
        definition, faults = Definition.examine(
            template,
            environment,
            parameters=parameters,
            files=files,
            pseudo=self._pseudo,
            missing_ok=missing_ok,
            look_up=lambda *_: UNDETERMINED,
            broken=[item.path[:2] for item in problems],
        )
        return BoundTemplate(self, definition, [*problems, *further(faults, problems)], files, depth)

    def template_type(self, path: str) -> ResourceType | None:
        """Return the resource type of the template at `path`; None if there is no such file."""
        if not self.sources.exists(path):
            return None
        if path not in self._template_types:
            self._template_types[path] = self.registry.template_type(self.sources.examined(path)[0], path)
        return self._template_types[path]

    def known_type(self, type_name: str) -> ResourceType | None:
        """Return the type of this name, or None. A type that a part of an environment that cannot be read may define is
        `Unchecked`.
        """
        if type_name == INVALID_TYPE:
            return Unchecked()
        kind = self.registry.types.get(type_name)
        return Unchecked() if kind is None and self._hides_types else kind

    def environment(self, schemas: Mapping[str, ParameterSchema]) -> Environment:
        """Return the merged environments, over the default environment; `schemas` are the template's parameters.

        Raises TemplateInvalid with positions in the environments' files.
        """
        environment, problems = self._environment(schemas)
        if problems:
            raise TemplateInvalid(problems)
        return environment

    def environment_warnings(self) -> Iterator[Diagnostic]:
        """Yield warnings about the environments, with positions in their files."""
        for document in self._documents[0]:
            strategies = document.data.get("parameter_merge_strategies")
            if isinstance(strategies, Mapping):
                for item in unknown_strategies(strategies, document.source):
                    yield replace(item, position=document.locate(item.path))

    def _environment(self, schemas: Mapping[str, ParameterSchema]) -> tuple[Environment, list[Diagnostic]]:
        """Return what can be used of the environments, and their problems."""
        documents, unread = self._documents
        merged, faults = Environment.examine(
            [(document.source, _with_files(document)) for document in documents], schemas
        )
        by_source = {document.source: document for document in documents}
        problems = [*unread, *(replace(item, position=by_source[item.source].locate(item.path)) for item in faults)]
        return merged.with_operator(Environment.from_data(packaged_environment())), problems

    @cached_property
    def _documents(self) -> tuple[list[Document], list[Diagnostic]]:
        """Return the environments that can be read, and the problems of the others."""
        documents: list[Document] = []
        problems: list[Diagnostic] = []
        for path in self._environments:
            try:
                documents.append(self.sources.document(str(Path(path))))
            except TemplateInvalid as error:
                problems += error.diagnostics
        return documents, problems

    @cached_property
    def _hides_types(self) -> bool:
        """Return whether an environment has a registry that cannot be read."""
        documents, unread = self._documents
        _, problems = Environment.examine([(document.source, document.data) for document in documents], {})
        return hides_types([*unread, *problems])


def _with_files(document: Document) -> Mapping[str, object]:
    """Return the data of an environment, with templates relative to the working directory."""
    entries = document.data.get(_REGISTRY)
    if not isinstance(entries, Mapping):
        return document.data
    return {**document.data, _REGISTRY: _relocated(entries, str(Path(document.source).parent))}


def _relocated(entries: Mapping[str, object], folder: str) -> dict[str, object]:
    """Return a registry's entries with templates relative to the working directory."""
    base = entries.get("base_url")
    if isinstance(base, str) and base:
        folder = base if is_remote(base) else resolve_path(folder, base)
    return {name: _target(target, folder) for name, target in entries.items() if name != "base_url"}


def _target(target: object, folder: str) -> object:
    if isinstance(target, Mapping):
        return {name: _target(inner, folder) for name, inner in target.items()}
    if not isinstance(target, str) or not is_template_name(target) or is_remote(target):
        return target
    return f"{folder.rstrip('/')}/{target}" if is_remote(folder) else resolve_path(folder, target)
