"""Make a stack what is wanted: one step at a time, each from what the service says now and what the status has.

No step waits for an operation: the next one looks again. So the operator can end at any time, and nothing is lost.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from keystoneauth1.exceptions import ClientException

from stoker.authoring.plan_steps import data_losses, summary
from stoker.authoring.project_files.project import ProjectStack
from stoker.base.errors import ActionInProgress, ApprovalRequired, ChangeWindowClosed, StackLocked
from stoker.cli.client.joint_plan import Planned
from stoker.cli.client.outages import NotAnswering
from stoker.cli.client.refusals import Answer, refusal_of
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.commands.deployment import Deployment, StackIsLocked, deletion, refuse_locked
from stoker.cli.commands.project import JOINT, Options, deployment
from stoker.cli.terminal.errors import CommandFailed, TemplateRefused, reported_errors
from stoker.cli.views.failure import failure
from stoker_kubernetes.definition import APPROVED, Approval
from stoker_kubernetes.desired import ENVIRONMENT, TEMPLATE, DesiredStack
from stoker_kubernetes.status import Reason, StackCondition

_TAG = "stoker:kubernetes:"
_UNAVAILABLE = frozenset({401, 403, 500, 502, 503, 504})
_WAITING = frozenset(each.__name__ for each in (ActionInProgress, ChangeWindowClosed, StackLocked))
_SUCCESSFUL = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
_ALLOW = "Nothing was done: set allowDataLoss, or keep the data by the template (DeletionPolicy)."


class NotOwned(CommandFailed):
    """The stack belongs to nobody that is known, or to another object."""


def tag_of(cluster: str, namespace: str, name: str) -> str:
    """Return the tag of the stack of an object, by which no stack has two of them; `cluster` identifies the cluster.

    An object that is created again has the same tag, and so the stack that was retained.
    """
    return f"{_TAG}{hashlib.sha256(f'{cluster}/{namespace}/{name}'.encode()).hexdigest()[:32]}"


def is_owned(stack: Stack, tag: str) -> bool:
    """Return whether a stack is that of the object with this tag."""
    return tag in (stack.facts.get("tags") or ())


class Reconciliation:
    """A step towards what an object asks for. `tag` is that of its stack, `approved` the digest of an approved plan.

    `status` is that of the object until now, `last` its reason. Files are in the directory `folder` for the step. Its
    path is part of the definition that the service gets, so it is the same for each step of an object.
    """

    def __init__(
        self,
        service: StackClient,
        desired: DesiredStack,
        tag: str,
        approved: str | None,
        status: Mapping[str, Any],
        last: Reason | None,
        folder: Path,
    ) -> None:
        self._folder = folder
        self._service = service
        self._desired = desired
        self._tag = tag
        self._approved = approved
        self._status = status
        self._last = last

    def step(self) -> StackCondition:
        """Plan, and begin what is needed and allowed; return how the stack stands then. Messages have no secrets."""
        shutil.rmtree(self._folder, ignore_errors=True)  # what a step left behind that was interrupted
        self._folder.mkdir(parents=True)
        try:
            with reported_errors():
                found = self._step()
        except CommandFailed as error:
            found = StackCondition(reason_of(error), message_of(error), {})
        finally:
            shutil.rmtree(self._folder)
        message = found.message.replace(f"{self._folder.as_uri()}/", "").replace(f"{self._folder}/", "")
        return replace(found, message=self._desired.redactor.redact(message))

    def _step(self) -> StackCondition:
        stack = self._service.existing(self._desired.name)
        if stack is not None:
            self._refuse_foreign(stack)
            if stack.busy:
                return in_progress(stack)
            refuse_locked(stack)
        stack_deployment = self._deployment()
        plan = stack_deployment.plan_without_questions()
        del stack_deployment.body[JOINT]
        if stack is not None and Planned(self._as_project_stack(), plan, stack_deployment.stack).is_unchanged:
            outputs = {each["output_key"]: each.get("output_value") for each in stack.outputs()}
            return StackCondition(Reason.DEPLOYED, stack.state, {**facts_of(stack), "failures": 0}, outputs)
        if stack is not None and self._last is Reason.PROGRESSING and self._is_attempted:
            return self._failed(stack, plan)
        return self._carried_out(stack_deployment, plan)

    @property
    def _is_attempted(self) -> bool:
        return bool(self._status.get("attempted") == self._desired.digest)

    def _refuse_foreign(self, stack: Stack) -> None:
        """Raise NotOwned for a stack of another object, and for one that must not be taken over."""
        tags = stack.facts.get("tags") or ()
        others = [tag for tag in tags if tag.startswith(_TAG) and tag != self._tag]
        if others:
            raise NotOwned(
                f"The stack {stack.name} belongs to another object of the kind Stack, by its tag {others[0]}."
            )
        if self._tag not in tags and not self._desired.adopt:
            raise NotOwned(f"The stack {stack.name} exists already: set `adopt` to take it over.")

    def _deployment(self) -> Deployment:
        """Write the files into the directory, outside of which nothing is read, and return the deployment."""
        folder = self._folder
        for name, text in self._desired.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        (folder / TEMPLATE).write_text(self._desired.template, "utf-8")
        (folder / ENVIRONMENT).write_text(yaml.safe_dump(dict(self._desired.environment)), "utf-8")
        how = Options(refresh="all", reset_parameters=True, within=folder)
        stack_deployment = deployment(self._service, self._as_project_stack(), how, {})
        stack_deployment.body[JOINT] = {}
        if stack_deployment.stack is not None:
            stack_deployment.body["supersede"] = False
        return stack_deployment

    def _as_project_stack(self) -> ProjectStack:
        desired = self._desired
        tags = (*(tag for tag in desired.tags if tag != self._tag), self._tag)
        return ProjectStack(
            desired.name, desired.name, (), TEMPLATE, (ENVIRONMENT,), desired.parameters, tags=tags,
            rollback=desired.rollback, timeout=desired.timeout,
        )  # fmt: skip

    def _failed(self, stack: Stack, plan: Answer) -> StackCondition:
        """Return how a stack stands that is not as wanted after an operation which should have made it so."""
        if stack.state in _SUCCESSFUL:
            message = f"The stack is {stack.state}, and its plan has changes again: {summary(plan)}."
        else:
            message = f"The stack is {stack.state}: {failure(stack).message}"
        fields = {**facts_of(stack), "failures": self._status.get("failures", 0) + 1}
        return StackCondition(Reason.DEPLOYMENT_FAILED, message, fields)

    def _carried_out(self, stack_deployment: Deployment, plan: Answer) -> StackCondition:
        """Begin the operation of a plan, unless something forbids it."""
        shown = {"digest": plan["digest"], "summary": summary(plan), "dataLost": data_losses(plan) or None}
        fields = {"plan": shown, **(facts_of(stack_deployment.stack) if stack_deployment.stack is not None else {})}
        stack_deployment.refuse_known_failures(plan)
        if shown["dataLost"] and not self._desired.allow_data_loss:
            return StackCondition(Reason.DATA_LOSS, f"The plan loses the data of {shown['dataLost']}. {_ALLOW}", fields)
        if self._desired.approval is Approval.MANUAL and self._approved != plan["digest"]:
            message = f"{summary(plan)}. To approve this plan, set the annotation {APPROVED} to {plan['digest']}."
            return StackCondition(Reason.APPROVAL_REQUIRED, message, fields)
        begun = stack_deployment.start(plan["digest"])
        return replace(in_progress(begun), fields={**fields, **facts_of(begun), "attempted": self._desired.digest})


def remove(
    service: StackClient, name: str, tag: str, allow_data_loss: bool, last: Reason | None
) -> StackCondition | None:
    """Begin to delete the stack of an object, if that is allowed; return how it stands, None when there is none.

    A stack that is not that of the object is left alone.
    """
    try:
        with reported_errors():
            stack = service.existing(name)
            if stack is None or stack.state == "DELETE_COMPLETE" or not is_owned(stack, tag):
                return None
            return _removed(stack, allow_data_loss, last)
    except CommandFailed as error:
        return StackCondition(reason_of(error), message_of(error), {})


def _removed(stack: Stack, allow_data_loss: bool, last: Reason | None) -> StackCondition:
    if stack.busy:
        return in_progress(stack)
    refuse_locked(stack)
    if stack.state == "DELETE_FAILED" and last is Reason.PROGRESSING:
        return StackCondition(
            Reason.DEPLOYMENT_FAILED, f"The stack is {stack.state}: {failure(stack).message}", facts_of(stack)
        )
    action = deletion(stack)
    plan = action.preview()["plan"]
    lost = data_losses(plan)
    if lost and not allow_data_loss:
        message = (
            f"The deletion loses the data of {lost}. Nothing was done: set allowDataLoss, or deletionPolicy Retain."
        )
        return StackCondition(Reason.DATA_LOSS, message, facts_of(stack))
    action.start(plan["digest"])
    return in_progress(stack.reload())


def in_progress(stack: Stack) -> StackCondition:
    """Return how a stack stands on which an operation is in progress."""
    return StackCondition(Reason.PROGRESSING, f"The stack is {stack.state}.", facts_of(stack))


def facts_of(stack: Stack) -> dict[str, Any]:
    """Return the fields of the status about a stack."""
    return {"stackID": stack.id, "state": stack.state}


def reason_of(error: CommandFailed) -> Reason:
    """Return why an error keeps a stack from being as wanted."""
    if isinstance(error, NotOwned):
        return Reason.NOT_OWNED
    if isinstance(error, StackIsLocked):
        return Reason.WAITING
    if isinstance(error, NotAnswering) or isinstance(error.__cause__, ClientException):
        return Reason.UNAVAILABLE
    refused = refusal_of(error)
    if refused is None or isinstance(error, TemplateRefused):
        return Reason.PLAN_FAILED
    if refused.kind == ApprovalRequired.__name__:
        return Reason.APPROVAL_REQUIRED
    if refused.kind in _WAITING:
        return Reason.WAITING
    return Reason.UNAVAILABLE if refused.status in _UNAVAILABLE else Reason.PLAN_FAILED


def message_of(error: CommandFailed) -> str:
    """Return the message of an error, with the mistakes of a template."""
    found = error.diagnostics if isinstance(error, TemplateRefused) else ()
    return "\n".join([error.message, *(each.text() for each in found)])
