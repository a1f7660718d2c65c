"""What operations work towards: templates, environments and files, stored once and parsed once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy import Connection

from stoker.base.errors import Bug
from stoker.base.ids import arn, new_id
from stoker.engine.settings import EngineSettings
from stoker.store import documents, queries
from stoker.store.database import Database
from stoker.store.records import Inputs, Stack
from stoker.store.sealing import Sealer
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.limits import Limits
from stoker.template.parameters import PseudoParameters
from stoker.template.template import Template

Value = TypeVar("Value")

_CACHED = 512


class Recent(Generic[Value]):
    """The most recently used values, by key."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Any, Value] = OrderedDict()

    def get(self, key: Any, make: Callable[[], Value]) -> Value:
        """The value under `key`, made when it is not at hand."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        value = self._values[key] = make()
        if len(self._values) > self._size:
            self._values.popitem(last=False)
        return value


@dataclass(frozen=True, slots=True)
class LoadedInputs:
    """Inputs, parsed. `environment` is without parameters; those given with the request are in `parameters`."""

    template: Template
    environment: Environment
    files: Mapping[str, str]
    parameters: Mapping[str, Any]
    template_digest: str
    environment_digest: str
    files_digest: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """New inputs: the row, the documents that it refers to, and the same parsed."""

    row: Inputs
    bodies: Mapping[str, str]
    loaded: LoadedInputs

    def save(self, connection: Connection) -> None:
        """Store the documents (a journal step)."""
        documents.save(connection, self.bodies)


class Loader:
    """Turns requests into stored inputs, and stored inputs into definitions."""

    def __init__(self, database: Database, sealer: Sealer, settings: EngineSettings) -> None:
        self._database = database
        self._sealer = sealer
        self._settings = settings
        self.limits = Limits(max_template_size=settings.max_template_size)
        self._templates: Recent[Template] = Recent(_CACHED)
        self._environments: Recent[Environment] = Recent(_CACHED)
        self._files: Recent[Mapping[str, str]] = Recent(64)

    def prepare(
        self,
        template: Template,
        environment: Environment,
        files: Mapping[str, str],
        parameters: Mapping[str, Any],
    ) -> Prepared:
        """Inputs for a request; environment parameters are kept among `parameters`, which are sealed."""
        text = template.document.text
        template_digest, template_body = documents.plain(text if text is not None else template.document.data)
        bodies = {template_digest: template_body}
        index = {}
        for name, content in files.items():
            index[name], body = documents.plain(content)
            bodies[index[name]] = body
        files_digest, bodies_index = documents.plain(orjson.dumps(index, option=orjson.OPT_SORT_KEYS).decode())
        bodies[files_digest] = bodies_index
        given = {"request": dict(parameters), "environment": dict(environment.parameters)}
        shared = environment.with_parameters({})
        environment_digest, body = documents.sealed(shared.to_data(), self._sealer)
        bodies[environment_digest] = body
        row = Inputs(new_id(), template_digest, environment_digest, files_digest, self._sealer.seal(given))
        self._templates.get(template_digest, lambda: template)
        self._files.get(files_digest, lambda: dict(files))
        loaded = LoadedInputs(
            self._templates.get(template_digest, lambda: template),
            self._environments.get(environment_digest, lambda: shared),
            self._files.get(files_digest, lambda: dict(files)),
            given,
            template_digest,
            environment_digest,
            files_digest,
        )
        return Prepared(row, bodies, loaded)

    async def load(self, inputs_id: str) -> LoadedInputs:
        """Stored inputs, parsed. Raises Bug when they are not there."""
        return await self._database.read(self.load_now, inputs_id)

    def load_now(self, connection: Connection, inputs_id: str) -> LoadedInputs:
        """The same on an open connection."""
        row = queries.inputs_by_id(connection, inputs_id)
        if row is None:
            raise Bug(f"there are no inputs {inputs_id}")
        bodies = documents.load(connection, (row.template, row.environment, row.files))
        index = orjson.loads(bodies[row.files])
        return LoadedInputs(
            self._templates.get(row.template, lambda: self.parse(bodies[row.template])),
            self._environments.get(
                row.environment, lambda: Environment.from_data(self._sealer.open(bodies[row.environment]))
            ),
            self._files.get(row.files, lambda: _files(connection, index)),
            self._sealer.open(row.parameters),
            row.template,
            row.environment,
            row.files,
        )

    def parse(self, source: str | Mapping[str, Any], name: str = "template") -> Template:
        """A parsed template, shared among all who have the same text. Raises TemplateInvalid."""
        key = (documents.plain(source)[0], name)
        return self._templates.get(key, lambda: Template.load(source, source=name, limits=self.limits))

    def bind(self, stack: Stack, inputs: LoadedInputs, *, strict: bool = True) -> Definition:
        """The definition that inputs give for a stack. Raises TemplateInvalid."""
        given = inputs.parameters
        return Definition.bind(
            inputs.template,
            inputs.environment.with_parameters(given["environment"]),
            parameters=given["request"],
            files=inputs.files,
            pseudo=PseudoParameters(
                stack_id=stack.id,
                stack_name=stack.name,
                project_id=stack.project_id,
                region=self._settings.region_name,
                arn=arn(stack.project_id, stack.name, stack.id),
            ),
            strict=strict,
        )


def _files(connection: Connection, index: Mapping[str, str]) -> Mapping[str, str]:
    bodies = documents.load(connection, index.values())
    return {name: bodies[digest] for name, digest in index.items()}
