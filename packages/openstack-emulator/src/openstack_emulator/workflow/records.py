"""What the workflow service keeps. Times are in UTC, as `rules.sharing.SECONDS_FORM` writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class TimestampedRecord(TypedRecord):
    """What belongs to a project, and was created and changed at some time."""

    project_id: str
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class WorkbookSpec(Part):
    """What is needed of a workbook, besides its workflows and actions."""

    name: str
    description: Any
    tags: Any


@dataclass(slots=True, kw_only=True, eq=False)
class WorkflowSpec(Part):
    """A workflow, of the type direct or reverse.

    input: the parameters: names, and maps from a name to a default. tasks: normalized declarations by name, as
    `rules.language` describes them.
    """

    name: str
    type: str
    description: object
    tags: list[Any]
    input: list[Any]
    output: object
    output_on_error: dict[str, object] = field(metadata=named("output-on-error"))
    vars: dict[str, object]
    tasks: dict[str, dict[str, Any]]


@dataclass(slots=True, kw_only=True, eq=False)
class ActionSpec(Part):
    """An ad-hoc action: the action of the service that it is based on, and the input of that one."""

    name: str
    description: Any
    tags: list[object]
    base: str
    base_input: dict[str, object] = field(metadata=named("base-input"))
    input: list[Any]
    output: Any


Spec = WorkflowSpec | ActionSpec | WorkbookSpec


@dataclass(slots=True, kw_only=True, eq=False)
class Definition(TimestampedRecord):
    """A workflow, a workbook or an ad-hoc action; its `spec` was read from the `definition` by `rules.language`."""

    name: str
    namespace: str
    scope: str
    description: Any
    tags: Any
    definition: str
    spec: Spec = field(metadata=named("_spec"))


@dataclass(slots=True, kw_only=True, eq=False)
class Workflow(Definition):
    """A workflow."""

    spec: WorkflowSpec = field(metadata=named("_spec"))


@dataclass(slots=True, kw_only=True, eq=False)
class Workbook(Definition):
    """A workbook, whose workflows and actions are records of their own."""

    spec: WorkbookSpec = field(metadata=named("_spec"))


@dataclass(slots=True, kw_only=True, eq=False)
class AdhocAction(Definition):
    """An ad-hoc action."""

    spec: ActionSpec = field(metadata=named("_spec"))


@dataclass(slots=True, kw_only=True, eq=False)
class Member(TimestampedRecord):
    """A project with which the project `project_id` shares a private workflow."""

    resource_id: str
    resource_type: str
    member_id: str
    status: str


@dataclass(slots=True, kw_only=True, eq=False)
class Environment(TimestampedRecord):
    """Variables for executions; None if the environment was created without any."""

    name: str
    description: Any
    scope: str
    variables: dict[str, object] | None


@dataclass(slots=True, kw_only=True, eq=False)
class Execution(TimestampedRecord):
    """An execution of a workflow, with the definition as it was at the start.

    task_execution_id: the task that runs it, if one does; root_execution_id: that of the outermost workflow. accepted:
    whether it counts for the task: one of an earlier attempt does not. index: the item of the task that it is for.
    depth: how many executions it is within. data: what its tasks see at first.
    """

    workflow_id: str
    workflow_name: str
    workflow_namespace: str
    description: str
    params: dict[str, Any]
    input: Any
    output: dict[str, Any]
    published_global: dict[str, object]
    state: str
    state_info: str | None
    task_execution_id: str | None
    root_execution_id: str | None
    source_execution_id: str | None
    tags: list[object]
    accepted: bool
    index: int = field(metadata=named("_index"))
    depth: int = field(metadata=named("_depth"))
    spec: WorkflowSpec = field(metadata=named("_spec"))
    env: dict[str, object] = field(metadata=named("_env"))
    data: dict[str, Any] = field(metadata=named("_data"))


@dataclass(slots=True, kw_only=True, eq=False)
class Task(TimestampedRecord):
    """A task of an execution, whose type is ACTION or WORKFLOW.

    processed: whether the execution has continued after it. data: what its expressions see. items: those of
    `with-items`. next: the tasks and commands that it has led to. attempt: how often it was begun again.
    """

    name: str
    type: str
    workflow_name: str
    workflow_namespace: str
    workflow_id: str
    workflow_execution_id: str
    state: str
    state_info: str | None
    tags: list[Any]
    runtime_context: dict[str, Any]
    published: dict[str, object]
    published_global: dict[str, object]
    processed: bool
    started_at: str | None
    finished_at: str | None
    data: dict[str, Any] = field(metadata=named("_data"))
    items: list[dict[str, Any]] | None = field(metadata=named("_items"))
    next: list[str] = field(metadata=named("_next"))
    attempt: int = field(metadata=named("_attempt"))


@dataclass(slots=True, kw_only=True, eq=False)
class ActionExecution(TimestampedRecord):
    """A run of an action, of a task or by itself; see `Execution` for `accepted` and `index`.

    waits: whether a request of the action is on its way, which does not survive a restart.
    """

    name: str
    workflow_name: str | None
    workflow_namespace: str
    task_name: str | None
    task_execution_id: str | None
    description: str | None
    state: str
    state_info: str | None
    tags: list[object] | None
    accepted: bool
    input: dict[str, object]
    output: dict[str, object]
    index: int = field(metadata=named("_index"))
    waits: bool = field(metadata=named("_waits"))


@dataclass(slots=True, kw_only=True, eq=False)
class Trigger(TimestampedRecord):
    """What starts executions of a workflow."""

    name: str
    workflow_id: str
    workflow_input: dict[str, object]
    workflow_params: dict[str, object]
    scope: str


@dataclass(slots=True, kw_only=True, eq=False)
class CronTrigger(Trigger):
    """A trigger by the time of day; `own_trust` if the trust was made for it."""

    workflow_name: str
    pattern: str | None
    remaining_executions: int | None
    first_execution_time: str | None
    next_execution_time: str
    trust: str = field(metadata=named("_trust"))
    own_trust: bool = field(metadata=named("_own_trust"))


@dataclass(slots=True, kw_only=True, eq=False)
class EventTrigger(Trigger):
    """A trigger by a notification of a service."""

    exchange: str
    topic: str
    event: str
