"""Requests about refactorings: new definitions of several stacks at once, which move resources between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

from stoker.contract.request import ADDED, Request
from stoker.contract.views import JSONObject


class RefactoredStack(TypedDict):
    """A stack of a refactoring; `is_new` says that the refactoring creates it."""

    id: str
    name: str
    is_new: bool


class RefactorView(TypedDict):
    """A refactoring. `status` is CREATE_COMPLETE or CREATE_FAILED, `execution_status` AVAILABLE, UNAVAILABLE (if it
    failed), OBSOLETE (if a stack has changed since) or EXECUTE_COMPLETE.
    """

    id: str
    project_id: str
    description: str
    status: str
    status_reason: str
    execution_status: str
    execution_status_reason: str
    stacks: Sequence[RefactoredStack]
    created_at: float


class RefactorMove(TypedDict):
    """A resource that is moved; `is_asked` says that the request maps it, instead of equal names."""

    from_stack: str
    from_resource: str
    to_stack: str
    to_resource: str
    resource_type: str
    physical_resource_id: str | None
    is_asked: bool


class RefactorActions(TypedDict):
    """What a refactoring does: the stacks that it creates, and the resources that it moves.

    `changes` are the plans of the updates with what it changes besides, and `policies` is what policies on plans say of
    it, as in previews, both by the names of the stacks.
    """

    stacks: Sequence[RefactoredStack]
    moves: Sequence[RefactorMove]
    changes: NotRequired[Mapping[str, JSONObject]]
    policies: NotRequired[Mapping[str, JSONObject]]


@dataclass(frozen=True, kw_only=True)
class CreateStackRefactor(Request[RefactorView]):
    """Examine new templates of stacks, by the names of the stacks, and keep what they would move.

    `moved` are entries as in environments: `{"from": {"stack": …, "resource": …}, "to": {…}}`. With `creates`, stacks
    that do not exist are created. `inputs` are what belongs to the templates, by the same names: `environment`,
    `environment_files`, `files` and `parameters`, each as in requests about one stack; what is not given stays. With
    `changes`, the templates may change more than the places of resources.
    """

    method = "stack_refactor_create"
    templates: Mapping[str, str]
    moved: Sequence[JSONObject] = ()
    creates: bool = False
    description: str = ""
    inputs: Mapping[str, JSONObject] | None = None
    changes: bool = field(default=False, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class ShowStackRefactor(Request[RefactorView]):
    """Show a refactoring."""

    method = "stack_refactor_show"
    refactor_id: str


@dataclass(frozen=True, kw_only=True)
class ListStackRefactors(Request[Sequence[RefactorView]]):
    """List the refactorings of the project, the latest first."""

    method = "stack_refactor_list"


@dataclass(frozen=True, kw_only=True)
class ListStackRefactorActions(Request[RefactorActions]):
    """List what a refactoring does."""

    method = "stack_refactor_actions"
    refactor_id: str


@dataclass(frozen=True, kw_only=True)
class ExecuteStackRefactor(Request[RefactorView]):
    """Carry a refactoring out, in one transaction, with which updates begin that make its other changes."""

    method = "stack_refactor_execute"
    refactor_id: str
