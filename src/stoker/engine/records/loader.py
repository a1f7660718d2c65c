"""The inputs of operations: templates, environments and files, stored once and parsed once."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from stoker.base.errors import Bug, TemplateInvalid
from stoker.base.ids import arn, new_id
from stoker.base.redaction import Redactor, strings_of
from stoker.engine.settings import EngineSettings
from stoker.schema.unknown import Unknown
from stoker.store import documents, exchange, queries
from stoker.store.database import Database
from stoker.store.records import Inputs, Stack
from stoker.store.sealing import Sealer
from stoker.template.definition import Definition
from stoker.template.derived import derived_values
from stoker.template.environment import Environment
from stoker.template.expressions import UNDETERMINED, UnknownScope
from stoker.template.limits import DEFAULT_LIMITS, Limits
from stoker.template.parameter import ParameterSchema
from stoker.template.parameters import PseudoParameters
from stoker.template.template import Template

Value = TypeVar("Value")

_DENIED_TYPES = "denied_types"
"""The key of `LoadedInputs.denied_types` among the sealed parameters of inputs."""

_CACHED = 512
_CACHED_CHARACTERS = 2 * 1024 * 1024
"""A parsed template can use thirty times as many bytes."""

_CACHED_FILES = 64
_CACHED_INPUTS = 128
_CACHED_SECRETS = 4096

_HIDING = re.compile("hidden|NoEcho")
"""Matches every template with hidden parameters."""


class Recent(Generic[Value]):
    """A thread-safe cache of the most recently used values, by key.

    It keeps at most `size` values, from at most `most` characters of input in total, which `weigh` counts.
    """

    def __init__(self, size: int, weigh: Callable[[Value], int] | None = None, most: int = _CACHED_CHARACTERS) -> None:
        self._size = size
        self._weigh = weigh or (lambda value: 0)
        self._most = most
        self._weight = 0
        self._values: OrderedDict[Any, Value] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Any) -> Value | None:
        """Return the value of `key`; None if it is not cached."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def get(self, key: Any, make: Callable[[], Value]) -> Value:
        """Return the value of `key`, which is made if it is not cached."""
        found = self.find(key)
        if found is not None:
            return found
        made = make()
        weight = self._weigh(made)
        if weight > self._most:
            return made
        with self._lock:
            if key not in self._values:
                self._values[key] = made
                self._weight += weight
            value = self._values[key]
            while len(self._values) > self._size or self._weight > self._most:
                self._weight -= self._weigh(self._values.popitem(last=False)[1])
        return value


class Files(dict[str, str]):
    """Files that were sent with a template, by name; `digest` is that of all of them, `digests` those of each."""

    def __init__(self, texts: Mapping[str, str], sealer: Sealer) -> None:
        super().__init__(texts)
        self.digests = {name: sealer.digest(text) for name, text in texts.items()}
        self.digest = sealer.digest(self.digests)

    def bodies(self) -> dict[str, Any]:
        """Return the contents to store, by digest."""
        return {**{self.digests[name]: text for name, text in self.items()}, self.digest: self.digests}


@dataclass(frozen=True, slots=True)
class LoadedInputs:
    """Parsed inputs. `environment` is merged over the operator's, without parameters: all are in `parameters`.

    `environment_digest` covers both environments and the operator's templates. `denied_types` are the resource
    types that policy denied to the user who defined the stack: members of groups whose type becomes known only during
    an operation are checked against them.
    """

    template: Template
    environment: Environment
    files: Files
    parameters: Mapping[str, Any]
    environment_digest: str
    denied_types: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """New inputs: the row, the documents that it refers to, and the parsed inputs."""

    row: Inputs
    bodies: Mapping[str, Any]
    loaded: LoadedInputs
    sealer: Sealer

    def save(self, connection: Connection) -> None:
        """Store the documents (a journal step)."""
        files = self.loaded.files
        documents.save(connection, self.bodies, self.sealer, {files.digest: files.digests.values()})


def _template_size(template: Template) -> int:
    return template.document.size


def _files_size(files: Files) -> int:
    return sum(map(len, files.values()))


def _inputs_size(inputs: LoadedInputs) -> int:
    return _template_size(inputs.template) + _files_size(inputs.files)


_GENERATED = 64
"""Maximum size of a template generated by a type, as a multiple of that for users: a group can have thousands."""


class Loader:
    """Converts requests to stored inputs, and stored inputs to definitions."""

    def __init__(self, database: Database, sealer: Sealer, settings: EngineSettings) -> None:
        self._database = database
        self._sealer = sealer
        self._settings = settings
        self.limits = Limits(
            max_template_size=settings.max_template_size,
            max_resources_per_stack=settings.max_resources_per_stack,
            yaql_limit_iterators=settings.yaql_limit_iterators,
            yaql_memory_quota=settings.yaql_memory_quota,
            evaluation_steps=settings.evaluation_steps,
            evaluation_bytes=settings.evaluation_bytes,
            evaluation_seconds=settings.evaluation_seconds,
        )
        largest = max(settings.max_template_size, DEFAULT_LIMITS.max_template_size)
        self._operator_limits = replace(self.limits, max_template_size=largest)
        self._operator = settings.operator.environment
        self.default_environment = self.over_operator(Environment.from_data(None))
        self._operator_files = Files(settings.operator.templates, sealer)
        self._operator_digest = sealer.digest([self._operator.to_data(), sorted(self._operator_files.digests.values())])
        self._templates: Recent[Template] = Recent(_CACHED, _template_size)
        self._digests: Recent[tuple[Template, str]] = Recent(_CACHED, lambda pair: _template_size(pair[0]))
        self._environments: Recent[Environment] = Recent(_CACHED)
        self._files: Recent[Files] = Recent(_CACHED_FILES, _files_size)
        self._inputs: Recent[LoadedInputs] = Recent(_CACHED_INPUTS, _inputs_size)
        self._hidden_below: Recent[Sequence[ParameterSchema]] = Recent(_CACHED_FILES)
        self._secrets: Recent[frozenset[str]] = Recent(_CACHED_SECRETS)

    def files(self, texts: Mapping[str, str]) -> Files:
        """Return files with their digests."""
        return texts if isinstance(texts, Files) else Files(texts, self._sealer)

    def prepare(
        self,
        template: Template,
        environment: Environment,
        files: Files,
        parameters: Mapping[str, Any],
        denied_types: Sequence[str],
    ) -> Prepared:
        """Return inputs for a request; parameters of the environment are merged into `parameters`, which are sealed."""
        _, template_digest = self._digests.get(
            id(template), lambda: (template, self._sealer.digest(template.document.text or template.document.data))
        )
        given = {"request": dict(parameters), "environment": dict(environment.parameters)}
        shared = environment.with_parameters({})
        data = shared.to_data()
        environment_digest = self._sealer.digest(data)
        bodies: dict[str, Any] = {
            template_digest: template.document.text or template.document.data,
            environment_digest: data,
            **files.bodies(),
        }
        sealed = self._sealer.seal({**given, _DENIED_TYPES: list(denied_types)} if denied_types else given)
        row = Inputs(new_id(), template_digest, environment_digest, files.digest, sealed)
        loaded = LoadedInputs(
            self._templates.get(template_digest, lambda: template),
            self._environments.get(environment_digest, lambda: self.over_operator(shared)),
            self._files.get(files.digest, lambda: files),
            given,
            self._whole_digest(environment_digest),
            tuple(denied_types),
        )
        return Prepared(row, bodies, self._inputs.get(row.id, lambda: loaded), self._sealer)

    def imagined(
        self, template: Template, environment: Environment, files: Files, parameters: Mapping[str, Any]
    ) -> LoadedInputs:
        """Return inputs that are not stored: those of a nested stack in a plan, whose parameters can be unknown."""
        shared = environment.with_parameters({})
        digest = self._sealer.digest(shared.to_data())
        given = {"request": dict(parameters), "environment": dict(environment.parameters)}
        whole = self._environments.get(digest, lambda: self.over_operator(shared))
        return LoadedInputs(template, whole, files, given, self._whole_digest(digest))

    def over_operator(self, environment: Environment) -> Environment:
        """Return the environment merged over the operator's, as it applies to stacks."""
        return environment.with_operator(self._operator)

    def _whole_digest(self, environment_digest: str) -> str:
        return self._sealer.digest([environment_digest, self._operator_digest])

    async def load(self, inputs_id: str) -> LoadedInputs:
        """Return stored inputs, parsed; stored inputs never change. Raises Bug if they do not exist."""
        known = self._inputs.find(inputs_id)
        return known if known is not None else await self._database.read(self.load_now, inputs_id)

    def load_now(self, connection: Connection, inputs_id: str) -> LoadedInputs:
        """Return the same on an open connection."""
        return self._inputs.get(inputs_id, lambda: self._stored(connection, inputs_id))

    def _stored(self, connection: Connection, inputs_id: str) -> LoadedInputs:
        row = queries.inputs_by_id(connection, inputs_id)
        if row is None:
            raise Bug(f"there are no inputs {inputs_id}")

        def stored(digest: str) -> Any:
            return documents.load(connection, [digest], self._sealer)[digest]

        def stored_files() -> Files:
            digests = stored(row.files)
            texts = documents.load(connection, digests.values(), self._sealer)
            return Files({name: texts[digest] for name, digest in digests.items()}, self._sealer)

        given = self._sealer.open(row.parameters)
        denied_types = given.pop(_DENIED_TYPES, ())
        return LoadedInputs(
            self._templates.get(row.template, lambda: self._load_template(stored(row.template))),
            self._environments.get(
                row.environment, lambda: self.over_operator(Environment.from_data(stored(row.environment)))
            ),
            self._files.get(row.files, stored_files),
            given,
            self._whole_digest(row.environment),
            tuple(denied_types),
        )

    def _load_template(self, source: str | Mapping[str, Any]) -> Template:
        return Template.load(source, source="template", limits=self.limits)

    def parse(self, source: str | Mapping[str, Any], name: str = "template") -> Template:
        """Return a parsed template, which is shared by all users of the same content. Raises TemplateInvalid."""
        key = (self._sealer.digest(source), name)
        return self._templates.get(key, lambda: Template.load(source, source=name, limits=self.limits))

    def generated(self, data: Mapping[str, Any]) -> Template:
        """Return a parsed template that a type has generated for its members. Raises TemplateInvalid."""
        limits = replace(self.limits, max_template_size=self.limits.max_template_size * _GENERATED)
        key = (self._sealer.digest(data), "template")
        return self._templates.get(key, lambda: Template.load(data, source="template", limits=limits))

    def template_named(self, files: Mapping[str, str], name: str) -> Template | None:
        """Return the template in one of the files or, by its URL, of the operator's; None if there is none.

        Raises TemplateInvalid for an invalid one. Local files are read only if the operator's environment maps a type
        to them.
        """
        source = files if name in files else self._operator_files
        return self._parse_file(source, name) if name in source else None

    def _parse_file(self, files: Mapping[str, str], name: str) -> Template:
        if isinstance(files, Files):
            limits = self._operator_limits if files is self._operator_files else self.limits
            key = (files.digests[name], name)
            return self._templates.get(key, lambda: Template.load(files[name], source=name, limits=limits))
        return self.parse(files[name], name)

    def secrets_key(self, inputs_id: str, above: frozenset[str]) -> tuple[str, str]:
        """Return the cached result of `secrets`, or None."""
        return inputs_id, self._sealer.digest(sorted(above)) if above else ""

    def known_secrets(self, key: tuple[str, str]) -> frozenset[str] | None:
        """Return the hidden strings in the inputs of a stack: values of its parameters, and those of `hidden_below`."""
        return self._secrets.find(key)

    def secrets(
        self, stack: Stack, key: tuple[str, str], inputs: LoadedInputs, above: frozenset[str]
    ) -> frozenset[str]:
        """Return the strings that the inputs of a stack hide: the values of its hidden parameters, those of
        `hidden_below`, and what the template's functions derive from them and from what the stacks `above` hide.
        """
        return self._secrets.get(key, lambda: frozenset(self._hidden_strings(stack, inputs, above)))

    def _hidden_strings(self, stack: Stack, inputs: LoadedInputs, above: frozenset[str]) -> set[str]:
        found: set[str] = set()
        for schema in self.hidden_below(inputs):
            found.update(strings_of([schema.default, inputs.environment.parameter_defaults.get(schema.name)]))
        given = [inputs.parameters, inputs.environment.parameter_defaults]
        if not inputs.template.hides and not Redactor(found | above).finds(given):
            return found
        definition = self.bind(stack, inputs, strict=False)
        for name in definition.parameters.hidden:
            found.update(strings_of(definition.parameters.fit(name)))
        return found | derived_values(definition, UnknownScope(), found | above)

    def hidden_below(self, inputs: LoadedInputs) -> Sequence[ParameterSchema]:
        """Return hidden parameters of the templates among the files, which can be templates of nested stacks."""
        return self._hidden_below.get(
            inputs.files.digest,
            lambda: [
                schema
                for files in (self._operator_files, inputs.files)
                for name, text in files.items()
                if _HIDING.search(text) and (template := self._sound(files, name)) is not None
                for schema in template.parameters.values()
                if schema.hidden
            ],
        )

    def _sound(self, files: Files, name: str) -> Template | None:
        try:
            return self._parse_file(files, name)
        except TemplateInvalid:
            return None

    async def exports(self, project_id: str, template: Template) -> Mapping[str, Any] | None:
        """Return the exports of the project's stacks for a template with imports; None for other templates."""
        if not template.uses("Fn::ImportValue"):
            return None
        found = await self._database.read(exchange.exports_of_project, project_id)
        return {name: self._sealer.open(value) for name, value in found.items()}

    def bind(
        self, stack: Stack, inputs: LoadedInputs, *, strict: bool = True, exports: Mapping[str, Any] | None = None
    ) -> Definition:
        """Return the definition of a stack from its inputs. Raises TemplateInvalid."""
        pseudo = PseudoParameters(
            stack_id=stack.id,
            stack_name=stack.name,
            project_id=stack.project_id,
            region=self._settings.region_name,
            arn=arn(stack.project_id, stack.name, stack.id),
        )
        return self.bind_as(pseudo, inputs, strict=strict, exports=exports)

    def bind_new(
        self,
        project_id: str,
        inputs: LoadedInputs,
        *,
        name: str | Unknown = UNDETERMINED,
        exports: Mapping[str, Any] | None = None,
    ) -> Definition:
        """Return the same for a stack that does not exist yet: its id is unknown."""
        pseudo = PseudoParameters(UNDETERMINED, name, project_id, self._settings.region_name, UNDETERMINED)
        return self.bind_as(pseudo, inputs, strict=False, exports=exports)

    def bind_as(
        self,
        pseudo: PseudoParameters,
        inputs: LoadedInputs,
        *,
        strict: bool = True,
        exports: Mapping[str, Any] | None = None,
    ) -> Definition:
        """Return the definition of a stack with these names. Raises TemplateInvalid."""
        given = inputs.parameters
        return Definition.bind(
            inputs.template,
            inputs.environment.with_parameters(given["environment"]),
            parameters=given["request"],
            files=inputs.files,
            pseudo=pseudo,
            strict=strict,
            exports=exports,
        )
