"""The nested stack of a resource: its operations, which the parent's step waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from stoker.base.errors import ActionInProgress, Bug, Fenced, RequestLimitExceeded, StokerError
from stoker.base.portions import portions_of
from stoker.engine.calls.context import NestedReader, StackContext
from stoker.engine.planning.retention import Retention
from stoker.engine.records.actions import REMOVES, RETURNS
from stoker.engine.records.beginnings import Holder, Requester, new_operation, new_stack, time_limit
from stoker.engine.records.earlier_failures import failure_of
from stoker.engine.records.loader import Files, LoadedInputs, Prepared
from stoker.engine.records.stack_view import StackView, filled
from stoker.engine.records.state import ResourceState
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, ChildRequest, Member, ScalingNotice
from stoker.store import queries
from stoker.store.records import COMPLETE, IN_PROGRESS, SECOND_CHANCE, SUPERSEDED, UNFINISHED, Operation, Stack
from stoker.template.environment import NO_TRANSFERS, Environment
from stoker.template.template import Template


async def members_of(states: Iterable[ResourceState]) -> list[Member]:
    """Return the resources of a stack in creation order, as a resource type sees those of its child."""
    return [
        Member(
            name=state.row.name,
            type=state.row.type,
            action=state.row.action,
            status=state.row.status,
            reference_id=state.reference_id(),
            physical_id=state.row.physical_id,
            created_at=state.row.created_at,
            properties=state.properties,
            is_moved=state.row.former_names is not None,
        )
        async for state in portions_of(sorted(states, key=lambda state: state.row.position))
    ]


@dataclass(slots=True)
class ChildView:
    """Read access to the nested stack of a resource of the stack `above`: see plugins.resource.ChildStack.

    The resources of the child are read once for a call of a type's method, however often it asks for them, and a call
    that follows at once takes them over (`take_over`).
    """

    above: StackView
    state: ResourceState
    reader: NestedReader
    _inside: StackView | None = field(default=None, init=False)
    _members: Sequence[Member] | None = field(default=None, init=False)

    def take_over(self, earlier: ChildView) -> None:
        """Use what an earlier view of the same child has read."""
        self._inside, self._members = earlier._inside, earlier._members

    async def stack(self) -> Stack | None:
        """Return the child; None before it was created and after it was deleted."""
        return await self.above.services.database.read(queries.stack_by_parent_resource, self.state.row.uuid)

    async def members(self) -> list[Member]:
        """Return the child's current resources in creation order."""
        if self._members is None:
            inside = await self._load_child()
            self._members = await members_of(inside.current.values()) if inside else []
        return list(self._members)

    async def member_attribute(self, member: str, key: AttributeKey) -> object:
        """Return an attribute of one of the child's resources; None if it has none."""
        inside = await self._load_child()
        return await self.reader.attribute(inside, member, key) if inside else None

    async def _load_child(self) -> StackView | None:
        """Return the child in memory."""
        if self._inside is None:
            stack = await self.stack()
            self._inside = await self.reader.view(stack) if stack else None
        return self._inside

    async def outputs(self) -> Mapping[str, Any]:
        """Return the child's resolved outputs; failed ones are None."""
        stack = await self.stack()
        if stack is None:
            return {}
        inputs = await self.above.services.loader.load(stack.inputs)
        outputs = await self.reader.outputs(stack, inputs)
        return {output["output_key"]: output.get("output_value") for output in outputs}

    async def template(self) -> Mapping[str, Any] | None:
        """Return the child's current template as plain data; None if there is no child."""
        stack = await self.stack()
        if stack is None:
            return None
        data: Mapping[str, Any] = (await self.above.services.loader.load(stack.inputs)).template.data
        return data


@dataclass(slots=True)
class Child(ChildView):
    """Implements plugins.resource.ChildStack."""

    above: StackContext
    announced: Sequence[ScalingNotice] = ()

    @property
    def _operation_above(self) -> Operation:
        if self.above.operation is None:
            raise Bug("a nested stack can only be changed from within an operation of its parent")
        return self.above.operation

    async def run(self, action: str, request: ChildRequest) -> Outcome:
        """Start the child's operation, or return its progress."""
        begun = await self.outcome_of(action, request.round)
        if begun is not None:
            return begun
        try:
            operation = await self._begin(action, request)
        except StokerError as error:
            return Failed(error.message, kind=error.kind)
        if operation is None:
            return Done() if action in REMOVES else Failed("the nested stack does not exist", kind="NotFound")
        return self._outcome(operation, self._key(action, request.round))

    async def outcome_of(self, action: str, round: int) -> Outcome | None:
        """Return the progress of the child's operation; None if it was not started."""
        key = self._key(action, round)
        operation = self.above.nested.begun.get(key) or await self._asked_before(key)
        if operation is None:
            return None
        if operation.status in UNFINISHED:
            self._wait_for(operation, key)  # before its state is read, so that an end in between is noticed
            operation = await self.above.components.runs.refreshed(operation)
        return self._outcome(operation, key)

    def _key(self, action: str, round: int) -> tuple[str, int, str]:
        return self.state.row.uuid, round, action

    async def begin(
        self, action: str, request: ChildRequest, *, metadata: Mapping[str, object], data: Mapping[str, object]
    ) -> None:
        """Start an operation of the child outside of any action of the resource."""
        stack = await self.stack()
        if stack is None:
            raise ActionInProgress(f"The resource {self.state.row.name!r} has no nested stack yet.")
        _refuse_busy(stack)
        from stoker.engine.notifications.blocked import refuse_and_notify  # only for what begins by itself

        await refuse_and_notify(self.above.components.announcer, stack)
        prepared = await self._prepare(request, stack)
        operation = self._operation(action, stack.id, prepared.row.id, request, None)
        stored = self.state.stored
        before = stored.metadata, dict(stored.data)
        stored.metadata = metadata
        stored.data.update(data)
        try:
            await self.above.components.submissions.submit(
                stack,
                operation,
                prepared,
                guard=_refuse_busy,
                rows=[self.state.seal()],
                new=self.above.components.announcer.about_scaling(self.above.stack, self.announced),
                writer=self.above.writer,
            )
        except BaseException:
            stored.metadata = before[0]
            stored.data.clear()
            stored.data.update(before[1])
            raise

    async def revise_metadata(
        self, member: str, revise: Callable[[Mapping[str, object]], Mapping[str, object]]
    ) -> None:
        """Replace the metadata of one of the child's resources, and record it with an event."""
        stack = await self.stack()
        if stack is None:
            return
        _refuse_busy(stack)
        inside = await filled(StackContext(self.above.components, stack, self.above.writer))
        state = inside.current.get(member)
        if state is None:
            return
        revised = revise(state.stored.metadata)
        if revised == state.stored.metadata:
            return
        state.stored.metadata = revised
        event = replace(
            state.event("Metadata changed by the parent resource", self.above.services.clock.now()),
            action="SIGNAL",
            status=COMPLETE,
        )
        try:
            await inside.record(state, event)
        except Fenced as error:
            raise ActionInProgress(f"Another operation of stack {stack.name} is in progress.") from error

    def _outcome(self, operation: Operation, key: tuple[str, int, str]) -> Outcome:
        self.above.nested.note(key, operation)
        self._inside = self._members = None  # the operation changes them
        if operation.status in UNFINISHED:
            self._wait_for(operation, key)
            return InProgress(after=None, physical_id=operation.stack_id)
        if operation.status == COMPLETE:
            return Done(physical_id=operation.stack_id)
        if operation.status == SUPERSEDED:
            return Failed("a newer operation on the nested stack has taken over", kind="Conflict")
        self.above.nested.reason_code = operation.reason_code or self.above.nested.reason_code
        failure = failure_of(operation)
        return Failed(failure.message, kind=failure.kind, path=failure.path)

    def _wait_for(self, operation: Operation, key: tuple[str, int, str]) -> None:
        uuid, above = self.state.row.uuid, self.above

        def wake(ended: Operation | None) -> None:
            if ended is not None and key in above.nested.begun:
                above.nested.note(key, ended)
            above.wake(uuid)

        above.components.awaited.wait(operation.id, uuid, wake)

    async def _asked_before(self, key: tuple[str, int, str]) -> Operation | None:
        uuid, number, action = key
        if self._operation_above.epoch <= 1:
            return None
        return await self.above.services.database.read(
            queries.child_operation, self._operation_above.id, uuid, number, action
        )

    async def _begin(self, action: str, request: ChildRequest) -> Operation | None:
        lacking, uuid = self.above.nested.lacking, self.state.row.uuid
        stack = await self.stack() if uuid not in lacking else None
        lacking.discard(uuid)
        if stack is None:
            if action not in ("CREATE", "UPDATE", "ADOPT"):
                return None
            return await self._create(action, request)
        prepared = await self._prepare(request, stack) if action in ("CREATE", "UPDATE", "ADOPT") else None
        inputs = prepared.row.id if prepared else stack.inputs
        operation = self._operation(action, stack.id, inputs, request, self._operation_above)
        await self.above.components.submissions.submit(stack, operation, prepared, writer=self.above.writer)
        return operation

    async def _create(self, action: str, request: ChildRequest) -> Operation:
        parent = self.above.stack
        limit = self.above.services.settings.max_nested_stack_depth
        if parent.depth + 1 > limit:
            raise RequestLimitExceeded(
                f"Stacks are nested more than {limit} deep (max_nested_stack_depth) at {self.state.row.name!r}."
            )
        prepared = await self._prepare(request)
        row = self.state.row
        stack = new_stack(
            self.state.physical_name,
            action,
            parent.project_id,
            Requester(parent.user_id, parent.user_name),
            self.above.services.clock.now(),
            timeout_minutes=request.timeout_minutes or parent.timeout_minutes,
            prepared=prepared,
            holder=Holder(parent, row.uuid, row.name),
        )
        operation = self._operation(action, stack.id, prepared.row.id, request, self._operation_above)
        await self.above.components.submissions.submit_new(stack, operation, prepared, writer=self.above.writer)
        return operation

    async def _prepare(self, request: ChildRequest, stack: Stack | None = None) -> Prepared:
        """Return inputs of the child `stack`, None for a new one, prepared on another thread if they are large."""
        project = self.above.stack.project_id
        former = await self.above.services.loader.load(stack.inputs) if stack is not None else None
        return await self.above.services.evaluator.evaluate(project, partial(self._prepared, request, former))

    def _prepared(self, request: ChildRequest, former: LoadedInputs | None) -> Prepared:
        """Return inputs of the child: its template, the parent's files, and the environment for the nested stack.

        Raises Forbidden when the template has a resource of a type that policy denies to the user who defined the
        parent: the type of a group's members may have become known only now.
        """
        run = self.above
        assert run.inputs is not None
        if request.template is None:
            raise RequestLimitExceeded(f"no template was given for the nested stack {self.state.row.name!r}")
        name = request.template_name
        loader, files = self.above.services.loader, run.inputs.files
        template = loader.template_named(files, name) or loader.generated(request.template)
        environment = run.inputs.environment.for_child(self.state.row.name, name).with_missing(request.registry)
        if run.operation is not None and run.operation.action in RETURNS:  # what it had was carried out at that time
            environment = environment.with_transfers(NO_TRANSFERS)
        if former is not None:
            environment, files = self._with_former_types(template, environment, files, former)
        denied_types = run.inputs.denied_types
        prepared = loader.prepare(template, environment, files, request.parameters, denied_types)
        self.above.services.types.require_permitted(denied_types, template, prepared.loaded.environment, files)
        return prepared

    def _with_former_types(
        self, template: Template, environment: Environment, files: Files, former: LoadedInputs
    ) -> tuple[Environment, Files]:
        """Return the environment and the files, with the child's former ones where the template has their types.

        Members of a group keep their definition until a rolling update reaches them. A client does not send the files
        and mappings of former types.
        """
        lookup = self.above.services.types.lookup
        former_types = {
            resource.type: former.environment.registry.resolve(resource.type, name)
            for name, resource in template.resources.items()
            if lookup(environment, files, resource.type, name)[1] is None
        }
        if not former_types:
            return environment, files
        mapped = {name: target for name, target in former_types.items() if name != target}
        return environment.with_missing(mapped), self.above.services.loader.files({**former.files, **files})

    def _operation(
        self, action: str, stack_id: str, inputs: str, request: ChildRequest, parent: Operation | None
    ) -> Operation:
        """Return an operation on the child, as part of the operation `parent` or, if that is None, on its own."""
        now, stack = self.above.services.clock.now(), self.above.stack
        limit = time_limit(self.above.services.settings, request.timeout_minutes or stack.timeout_minutes)
        by = Requester(stack.user_id, stack.user_name)
        if parent is not None:
            by = Requester(parent.user_id, parent.user_name, parent.request_id, parent.client_request_token)
        operation = new_operation(stack_id, action, inputs, by, now, now + limit)
        operation.parent_resource, operation.round = self.state.row.uuid, request.round
        if parent is not None:
            operation.parent_operation, operation.snapshot = parent.id, parent.snapshot
            operation.observe, operation.differing = parent.observe, parent.differing
            operation.retention = Retention.of(parent).requested().to_json()
            operation.deadline = _earlier(parent.deadline, now, request.timeout_minutes)
            operation.cause = SECOND_CHANCE if parent.cause == SECOND_CHANCE else None
        return operation


def _earlier(deadline: float | None, now: float, minutes: int | None) -> float | None:
    """Return when a nested stack's operation times out: its own timeout or that of its parent, whichever is earlier."""
    if minutes is None:
        return deadline
    own = now + minutes * 60.0
    return own if deadline is None else min(deadline, own)


def _refuse_busy(stack: Stack) -> None:
    """Raise ActionInProgress for a nested stack with a running operation."""
    if stack.status == IN_PROGRESS:
        raise ActionInProgress(f"Stack {stack.name} already has an action ({stack.action}) in progress.")
