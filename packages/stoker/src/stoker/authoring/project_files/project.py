"""Read project files: their stacks, what these need of each other, and the mistakes of both, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from stoker.authoring.project_files.declarations import FILE, FROM, HOW, STACK, is_reference
from stoker.authoring.project_files.ordering import Shared, imports_of
from stoker.authoring.sources import Sources, is_remote, reason, resolve_path
from stoker.authoring.workspace import Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.base.diagnostics import Key as KeyPath
from stoker.base.diagnostics import Path as Place
from stoker.base.errors import BadValue, RequestLimitExceeded, StokerError, TemplateInvalid
from stoker.plugins.registry import Registry
from stoker.template.document import Document
from stoker.template.limits import DEFAULT_LIMITS
from stoker.template.ordering import topological
from stoker.template.problems import suggestion
from stoker.template.template import Template
from stoker.template.transfers import MOVED, StackMove, Transfers, transfer_problems

RULE = "project-file"
"""The rule of the diagnostics about a project file."""

_ALONE = tuple(key for key in HOW if key not in ("environments", "parameters", "depends_on"))
_SHARING = ("Export", "ImportValue")
"""What the text of a template contains that exports or imports values."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A parameter's value that is the output of another stack, with its place in the project file."""

    stack: str
    output: str
    place: Place


@dataclass(frozen=True, slots=True)
class ProjectStack:
    """A stack of a project in one stage.

    `key` is its name in the project file, `name` that in the cloud. `template` and `environments` are paths relative to
    the working directory, or URLs. `parameters` are plain values, `references` those that come from other stacks.
    `depends_on` has the places of the names. What is None was not given.
    """

    key: str
    name: str
    place: Place
    template: str
    environments: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)
    depends_on: Mapping[str, Place] = field(default_factory=dict)
    tags: tuple[str, ...] | None = None
    rollback: bool | None = None
    timeout: int | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """The stacks of a project file in one stage, by name, and what each exports and imports.

    `cloud` is the entry of clouds.yaml that the file names, if it does.
    `requires` has the stacks before each of them; it has no circular dependency.
    """

    document: Document
    stage: str | None
    cloud: str | None
    stacks: Mapping[str, ProjectStack]
    shared: Mapping[str, Shared]
    requires: Mapping[str, Mapping[str, str]]
    """Why each stack comes after another one: `outputs`, `depends_on`, or the name of an export."""
    losing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The other stacks of the project to which entries of the files move resources, by the stack that loses them."""

    def by_name(self) -> dict[str, str]:
        """Return the names in the project file by those in the cloud."""
        return {stack.name: key for key, stack in self.stacks.items()}


def looks_like_project(text: str) -> bool:
    """Return whether a document has the form of a project file, apart from mistakes inside its stacks."""
    if "stacks" not in text or "template" not in text:
        return False
    try:
        data = Document.parse(text).data
    except StokerError:
        return False
    stacks = data.get("stacks")
    if not isinstance(stacks, dict) or not data.keys() <= FILE.keys.keys():
        return False
    return any(isinstance(stack, dict) and stack.keys() & STACK.keys.keys() for stack in stacks.values())


def stages_of(path: str) -> tuple[str | None, ...]:
    """Return the stages of a project file; one without a name for a file without stages. Raises as `read_project`."""
    return tuple(_parsed(path).data.get("stages") or (None,))


def cloud_of(path: str, stage: str | None) -> str | None:
    """Return the entry of clouds.yaml that a project file names for a stage, if it does. Raises as `read_project`."""
    document = _parsed(path)
    _check_stage(document, stage)
    return _cloud_of(document, stage)


def _cloud_of(document: Document, stage: str | None) -> str | None:
    own = document.data["stages"][stage] if stage is not None else {}
    cloud: str | None = own.get("cloud", document.data.get("cloud"))
    return cloud


def read_project(path: str, stage: str | None = None, within: Path | None = None) -> Project:
    """Return the project of a file in a stage; what is outside of the directory `within` is a mistake, if there is one.

    Raises TemplateInvalid with all mistakes of the file and of the templates, OSError or UnicodeDecodeError for a file
    that cannot be read, BadValue for a stage that the file does not have.
    """
    document = _parsed(path)
    _check_stage(document, stage)
    reader = _Reader(document, stage, within)
    stacks = {stack.key: stack for stack in reader.stacks()}
    wrong = [*reader.faults(stacks), *reader.wrong]  # in this order: reading templates finds more
    if wrong:
        raise TemplateInvalid(sorted(dict.fromkeys(wrong), key=Diagnostic.sort_key))
    shared = {key: shared_by(stack) for key, stack in stacks.items()}
    requires = _requirements(stacks, shared)
    _refuse_circular(reader, stacks, requires)
    return Project(document, stage, _cloud_of(document, stage), stacks, shared, requires, _losing(stacks))


def _parsed(path: str) -> Document:
    document = Document.parse(Path(path).read_text("utf-8-sig"), source=path)
    wrong = [
        Diagnostic(RULE, fault.message, fault.path, document.source, document.locate(fault.path), fault.hint)
        for fault in FILE.faults(document.data, ())
    ]
    if wrong:
        raise TemplateInvalid(sorted(wrong, key=Diagnostic.sort_key))
    return document


def _check_stage(document: Document, stage: str | None) -> None:
    stages = document.data.get("stages") or {}
    if stage is None and stages:
        raise BadValue(f"{document.source} has stages: choose one with --stage ({', '.join(stages)}).")
    if stage is not None and stage not in stages:
        known = f"it has {', '.join(stages)}" if stages else "it has none"
        raise BadValue(f"{document.source} has no stage {stage!r}; {known}.")


class _Reader:
    """Reads the stacks of a stage. `wrong` are the mistakes that were found on the way."""

    def __init__(self, document: Document, stage: str | None, within: Path | None) -> None:
        self.wrong: list[Diagnostic] = []
        self._document = document
        self._stage = stage
        self._folder = str(Path(document.source).parent)
        self._within = within.resolve() if within is not None else None
        self._sources = Sources(DEFAULT_LIMITS)

    def stacks(self) -> Iterator[ProjectStack]:
        """Yield the stacks, those of the stage alone at the end."""
        data = self._document.data
        stage = data["stages"][self._stage] if self._stage is not None else {}
        variants, there = stage.get("stacks", {}), ("stages", str(self._stage), "stacks")
        environments = (*data.get("environments", ()), *stage.get("environments", ()))
        for key in dict.fromkeys((*data["stacks"], *variants)):
            parts: list[tuple[Place, Mapping[str, Any]]] = []
            if key in data["stacks"]:
                parts.append((("stacks", key), data["stacks"][key]))
            if key in variants:
                parts.append(((*there, key), variants[key]))
            if not any("template" in part for _, part in parts):
                self.wrong.append(self.problem((*there, KeyPath(key)), "a stack of this stage alone needs a template"))
                continue
            yield self._stack(key, parts, environments)

    def _stack(
        self, key: str, parts: Sequence[tuple[Place, Mapping[str, Any]]], environments: Sequence[str]
    ) -> ProjectStack:
        parameters: dict[str, Any] = {}
        references: dict[str, Reference] = {}
        depends_on: dict[str, Place] = {}
        single: dict[str, Any] = {}
        for place, part in parts:
            environments = (*environments, *part.get("environments", ()))
            for name, value in part.get("parameters", {}).items():
                parameters.pop(name, None)
                references.pop(name, None)
                if is_reference(value):
                    where = (*place, "parameters", name)
                    references[name] = Reference(value[FROM]["stack"], value[FROM]["output"], where)
                else:
                    parameters[name] = value
            depends_on |= {
                name: (*place, "depends_on", number) for number, name in enumerate(part.get("depends_on", ()))
            }
            single |= {name: part[name] for name in ("template", *_ALONE) if name in part}
        name = single.pop("name", key if self._stage is None else f"{key}-{{stage}}")
        tags = single.pop("tags", None)
        return ProjectStack(
            key,
            name.replace("{stage}", self._stage or ""),
            parts[0][0],
            self._path(single.pop("template")),
            tuple(map(self._path, environments)),
            parameters,
            references,
            depends_on,
            tuple(tags) if tags is not None else None,
            **single,
        )

    def _path(self, name: str) -> str:
        return name if is_remote(name) else resolve_path(self._folder, name)

    def faults(self, stacks: Mapping[str, ProjectStack]) -> Iterator[Diagnostic]:
        """Yield what is wrong with the stacks, one by one and together."""
        outside = [fault for stack in stacks.values() for fault in self._outside(stack)]
        if outside:  # nothing of it is read
            yield from outside
            return
        names: dict[str, str] = {}
        for key, stack in stacks.items():
            if stack.name in names:
                message = f"the stack has the name {stack.name!r} in the cloud, as has {names[stack.name]!r}"
                yield self.problem((*stack.place, "name"), message)
            names.setdefault(stack.name, key)
            for other, place in stack.depends_on.items():
                if other not in stacks:
                    yield self._no_stack(other, place, stacks)
            yield from self._missing_environments(stack)
        templates = {key: self._template(stack) for key, stack in stacks.items()}
        for key, stack in stacks.items():
            yield from self._value_faults(stack, templates[key], templates)

    def _outside(self, stack: ProjectStack) -> Iterator[Diagnostic]:
        for path in (stack.template, *stack.environments):
            if self._within is None or (not is_remote(path) and Path(path).resolve().is_relative_to(self._within)):
                continue
            yield self.problem(stack.place, f"{path} is outside the directory {self._within}")

    def _value_faults(
        self, stack: ProjectStack, template: Template | None, templates: Mapping[str, Template | None]
    ) -> Iterator[Diagnostic]:
        """Yield parameters that the template does not have, and outputs that other templates do not have."""
        for name, reference in stack.references.items():
            if reference.stack not in templates:
                yield self._no_stack(reference.stack, (*reference.place, FROM, "stack"), templates)
                continue
            other = templates[reference.stack]
            if other is not None and reference.output not in other.outputs:
                message = f"the stack {reference.stack!r} has no output {reference.output!r}"
                hint = suggestion(reference.output, other.outputs)
                yield self.problem((*reference.place, FROM, "output"), message, hint)
            if template is not None and name not in template.parameters:
                yield self._no_parameter(name, reference.place, template)
        for name in stack.parameters:
            if template is not None and name not in template.parameters:
                yield self._no_parameter(name, self._place_of(stack, name), template)

    def _place_of(self, stack: ProjectStack, parameter: str) -> Place:
        """Return where a plain value is given: in the stage, or else in the stack."""
        inside = (stack.key, "parameters", parameter)
        places: list[Place] = [("stages", str(self._stage), "stacks", *inside), ("stacks", *inside)]
        return next((place for place in places if _has(self._document.data, place)), stack.place)

    def _template(self, stack: ProjectStack) -> Template | None:
        """Return a template with its outputs and parameters; None if they are not known."""
        if is_remote(stack.template):
            return None
        place: Place = next(
            place
            for place in (("stages", str(self._stage), "stacks", stack.key, "template"), (*stack.place, "template"))
            if _has(self._document.data, place)
        )
        try:
            self._sources.text(stack.template)
        except (OSError, UnicodeDecodeError) as error:
            self.wrong.append(self.problem(place, f"{stack.template} cannot be read: {reason(error)}"))
            return None
        try:
            template, problems = self._sources.examined(stack.template)
        except TemplateInvalid as error:
            self.wrong += error.diagnostics
            return None
        self.wrong += problems
        return None if problems else template

    def _missing_environments(self, stack: ProjectStack) -> Iterator[Diagnostic]:
        for path in stack.environments:
            if not is_remote(path) and not self._sources.exists(path):
                yield self.problem(stack.place, f"there is no environment {path}")

    def _no_stack(self, name: str, place: Place, stacks: Mapping[str, Any]) -> Diagnostic:
        return self.problem(place, f"there is no stack {name!r}", suggestion(name, stacks))

    def _no_parameter(self, name: str, place: Place, template: Template) -> Diagnostic:
        message = f"the template {template.document.source} has no parameter {name!r}"
        return self.problem((*place[:-1], KeyPath(name)), message, suggestion(name, template.parameters))

    def problem(self, place: Place, message: str, hint: str = "") -> Diagnostic:
        """Return a diagnostic about a place in the project file."""
        return Diagnostic(RULE, message, place, self._document.source, self._document.locate(place), hint)


def _has(data: Any, place: Place) -> bool:
    for key in place:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True


def shared_by(stack: ProjectStack) -> Shared:
    """Return what a stack exports and imports, as far as its files say."""
    if is_remote(stack.template):
        return Shared()
    workspace = Workspace(
        Registry.on_demand(), [path for path in stack.environments if not is_remote(path)], stack.parameters,
        stack_name=stack.name,
    )  # fmt: skip
    if not any(word in workspace.sources.text(stack.template) for word in _SHARING):
        return Shared()
    try:
        definition = workspace.root(stack.template).definition
    except (TemplateInvalid, RequestLimitExceeded):
        return Shared()  # the service reports it with the plan
    exports = frozenset(name for name, _ in definition.exports() if isinstance(name, str))
    return Shared(exports, frozenset(definition.imports))


def _losing(stacks: Mapping[str, ProjectStack]) -> dict[str, frozenset[str]]:
    keys = {stack.name: key for key, stack in stacks.items()}
    gaining: dict[str, set[str]] = {}
    for stack in stacks.values():
        for entry in _moves_between(stack):
            source, target = keys.get(entry.source.stack), keys.get(entry.target.stack)
            if source is not None and target is not None and source != target:
                gaining.setdefault(source, set()).add(target)
    return {key: frozenset(others) for key, others in gaining.items()}


def _moves_between(stack: ProjectStack) -> Iterator[StackMove]:
    """Yield the entries of a stack's files about other root stacks; the service reports what is wrong with them."""
    sources = Sources(DEFAULT_LIMITS)
    for path in (stack.template, *stack.environments):
        if is_remote(path) or MOVED not in (text := sources.text(path)):
            continue
        with suppress(StokerError):
            data = {MOVED: Document.parse(text).data.get(MOVED)}
            if isinstance(data[MOVED], list) and not any(transfer_problems(data, path)):
                yield from Transfers.of({MOVED: data[MOVED]}).between


def _requirements(stacks: Mapping[str, ProjectStack], shared: Mapping[str, Shared]) -> dict[str, dict[str, str]]:
    imported = imports_of(shared)
    return {
        key: {
            **imported[key],
            **dict.fromkeys(stack.depends_on, "depends_on"),
            **{reference.stack: "outputs" for reference in stack.references.values()},
        }
        for key, stack in stacks.items()
    }


def _refuse_circular(
    reader: _Reader, stacks: Mapping[str, ProjectStack], requires: Mapping[str, Mapping[str, str]]
) -> None:
    """Raise TemplateInvalid with the path of a circular dependency, at the place that closes it."""
    _, cycle = topological(requires)
    if not cycle:
        return
    path = [*cycle, cycle[0]]
    steps = [f"{name} → {other} ({_why(requires[name][other])})" for name, other in pairwise(path)]
    first, then = stacks[path[0]], path[1]
    places = [reference.place for reference in first.references.values() if reference.stack == then]
    place = first.depends_on.get(then) or next(iter(places), first.place)
    message = f"the stacks depend on each other: {', '.join(steps)}"
    raise TemplateInvalid([reader.problem(place, message, "remove one of these dependencies")])


def _why(why: str) -> str:
    return why if why in ("outputs", "depends_on") else f"export {why}"
