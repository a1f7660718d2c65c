"""The plan of a project: the plans of its stacks, with what each one will get from the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from stoker.authoring.plan_steps import changes
from stoker.authoring.project_files.ordering import Exported, Order, order_of
from stoker.authoring.project_files.project import Project, ProjectStack
from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.terminal.errors import CommandFailed

_DESTROYS = ("delete", "replace")


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of a stack of a project; `existing` is the stack as it was before, None for a new one."""

    stack: ProjectStack
    plan: Answer
    existing: Stack | None

    @property
    def others(self) -> Answer:
        """What the plan means for the stacks that come after it."""
        joint: Answer = self.plan.get("joint_deployment") or {}
        return joint

    @property
    def is_unchanged(self) -> bool:
        """Whether the stack is deployed already, exactly as its files say."""
        stack, now = self.stack, self.existing
        if now is None or changes(self.plan) or not self.others.get("same_definition"):
            return False
        facts = now.facts
        return (
            now.state.endswith("_COMPLETE")
            and (stack.tags is None or list(stack.tags) == list(facts.get("tags") or []))
            and (stack.timeout is None or stack.timeout == facts.get("timeout_mins"))
            and (stack.rollback is None or stack.rollback != facts.get("disable_rollback"))
        )

    @property
    def destroys(self) -> set[tuple[str, str]]:
        """The resources that are deleted or replaced: path and kind of each step."""
        return {(step["path"], step["kind"]) for step in changes(self.plan) if step["kind"] in _DESTROYS}


@dataclass(frozen=True)
class Exchange:
    """What the stacks of a project export and import: in the cloud now, and as their files say."""

    project: Project
    present: Mapping[str, Exported]

    @classmethod
    def read(cls, service: StackClient, project: Project) -> Exchange:
        """Ask the service for what there is."""
        keys = project.by_name()
        present = {
            row["name"]: Exported(
                keys.get(row["stack_name"]) or str(row["stack_name"]),
                row["value"],
                frozenset(keys.get(name, name) for name in row.get("importers", ())),
            )
            for row in service.exports()
        }
        return cls(project, present)

    @cached_property
    def order(self) -> Order:
        """The order of a deployment."""
        return order_of(self.project.requires, self.project.shared, self.present, self.project.losing)

    @cached_property
    def released(self) -> list[str]:
        """The exports that their stacks lose, and that no stack imports any more by then."""
        shared = self.project.shared
        return [
            name
            for name, export in self.present.items()
            if export.stack in shared and name not in shared[export.stack].exports and not self.remains_imported(name)
        ]

    def earlier(self, stack: ProjectStack) -> list[str]:
        """Return the names of the stacks that are deployed before one which loses resources, and have taken these."""
        before = self.order.before
        preceding, waiting = set[str](), list(before[stack.key]) if stack.key in self.project.losing else []
        while waiting:
            step = waiting.pop()
            if step not in preceding:
                preceding.add(step)
                waiting += before[step]
        return sorted(self.project.stacks[self.order.steps[step].stack].name for step in preceding)

    def remains_imported(self, export: str) -> bool:
        """Return whether a stack imports an export now that will not have stopped to by then."""
        shared = self.project.shared
        return any(name not in shared or export in shared[name].imports for name in self.present[export].importers)

    def pending(self, stack: ProjectStack, plans: Mapping[str, Planned]) -> list[str]:
        """Return the exports that a stack imports and that are not there yet, or change before."""
        owners = {export: key for key, shared in self.project.shared.items() for export in shared.exports}
        return [
            export
            for export in sorted(self.project.shared[stack.key].imports)
            if (owner := owners.get(export)) is not None
            and (self._stack_of(export) != owner or (owner in plans and plans[owner].others.get("changed_outputs")))
        ]

    def _stack_of(self, export: str) -> str | None:
        owner = self.present.get(export)
        return owner.stack if owner is not None else None


@dataclass(frozen=True)
class Inputs:
    """The values of the parameters that come from other stacks: known ones, and the names of the others."""

    known: Mapping[str, Any] = field(default_factory=dict)
    unknown: Sequence[str] = ()


def predicted_inputs(stack: ProjectStack, plans: Mapping[str, Planned]) -> Inputs:
    """Return what a stack will get from the others, as far as their plans say."""
    known: dict[str, object] = {}
    unknown: list[str] = []
    for name, reference in stack.references.items():
        other = plans[reference.stack]
        changed = other.others.get("changed_outputs", [reference.output])
        if other.existing is None or reference.output in changed:
            unknown.append(name)
        else:
            known[name] = output_of(other.existing.outputs(), other.existing.name, reference.output)
    return Inputs(known, unknown)


def output_of(outputs: Sequence[Answer], stack: str, name: str) -> object:
    """Return the value of an output. Raises CommandFailed if there is none."""
    for output in outputs:
        if output["output_key"] == name:
            if output.get("output_error"):
                raise CommandFailed(f"The output {name} of {stack} has no value: {output['output_error']}")
            return output["output_value"]
    raise CommandFailed(f"The stack {stack} has no output {name}.")


def refuse_used_exports(planned: Planned, exchange: Exchange) -> None:
    """Raise CommandFailed if a plan changes exports that other stacks continue to import, which fails."""
    for consumer in planned.plan.get("consumers", ()):
        if consumer["change"] == "changed" and exchange.remains_imported(consumer["export"]):
            raise CommandFailed(
                f"The export {consumer['export']} of {planned.stack.name} cannot change while "
                f"{', '.join(consumer['stacks'])} imports it. Export the new value under another name, and import that "
                "one."
            )
