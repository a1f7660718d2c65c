"""Requests about stacks as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NotRequired, TypedDict

from stoker.contract.request import ADDED, Answer, OfStack, Request, sent_as
from stoker.contract.views import (
    DriftSummary,
    JSONObject,
    LockView,
    StackDetails,
    StackIdentity,
    StackView,
    TreeSettings,
)

# -- the definition of a stack -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TemplateInputs:
    """A template with all that belongs to it; None where nothing was given.

    Environment files are named files, which replace `environment`.
    """

    template: Mapping[str, Any] | str | None = None
    environment: Mapping[str, Any] | str | None = None
    environment_files: Sequence[str] | None = None
    files: Mapping[str, str] | None = None
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class StackInputs(TemplateInputs):
    """What a request says about a stack. With `plan_digest`, only exactly that plan is applied.

    `preflight` says whether the plan is checked before the first change; None means as the operator has set.
    """

    tags: Sequence[str] | None = None
    disable_rollback: bool | None = None
    timeout_mins: int | None = None
    plan_digest: str | None = None
    preflight: bool | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class NewStack(StackInputs):
    """What a request says about a stack that does not exist yet. `adopt_stack_data` is an exported document."""

    name: str
    adopt_stack_data: Mapping[str, Any] | None = None


class Refresh(StrEnum):
    """Which objects a plan asks the cloud for."""

    NONE = "none"
    CHANGES = "changes"
    """Those that the change touches, and all that they depend on."""
    ALL = "all"
    """Those of the whole stack, with its nested stacks."""


@dataclass(frozen=True, kw_only=True)
class StackChange(StackInputs):
    """A change of a stack. With `converge`, the actual state of all objects is read first.

    `refresh` says of which objects it is read (`Refresh`); None is the default of the request. The change supersedes an
    operation that runs on the stack; without `supersede`, it is refused then.
    """

    converge: bool | None = None
    refresh: str | None = field(default=None, metadata=ADDED)
    supersede: bool = field(default=True, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class StackPatch(StackChange):
    """A change of the given parts.

    `keep_parameters` keep their values like all that are not given, but must exist before and after the change.
    `policy` replaces the stack's policy during this update. With `as_of`, the ID of an operation of the stack, its
    definition is changed instead of the present one: the stack returns to it.
    """

    clear_parameters: Sequence[str] | None = None
    keep_parameters: Sequence[str] | None = None
    policy: Mapping[str, Any] | None = None
    as_of: str | None = field(default=None, metadata=ADDED)


class SettingsChange(TypedDict, total=False):
    """Settings of a tree of stacks that a request changes."""

    protected: bool
    policy: Any
    notification_topics: Sequence[str]
    capabilities: Sequence[str]


# -- create, update, delete --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CreateStack(NewStack, Request[StackView]):
    """Create a stack."""

    method = "stack_create"


@dataclass(frozen=True, kw_only=True)
class CreateStackWithSettings(NewStack, Request[StackView]):
    """Create a stack whose settings apply before it exists."""

    method = "stack_create_laid_down"
    settings: SettingsChange = field(metadata=sent_as("laid_down"))


@dataclass(frozen=True, kw_only=True)
class UpdateRequest(StackChange, OfStack[Answer]):
    """A request to update a stack, or to preview that.

    With `existing_parameters`, parameters of the former request keep their values unless this one sets them.
    """

    existing_parameters: bool = field(default=False, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class PatchRequest(StackPatch, OfStack[Answer]):
    """A request to change parts of a stack, or to preview that."""


@dataclass(frozen=True, kw_only=True)
class UpdateStack(UpdateRequest[StackView]):
    """Replace the whole definition of a stack."""

    method = "stack_update"


@dataclass(frozen=True, kw_only=True)
class PatchStack(PatchRequest[StackView]):
    """Change the given parts of a stack, and with it settings of its tree."""

    method = "stack_patch"
    settings: SettingsChange | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class CheckForChanges(PatchRequest[bool]):
    """Return whether a patch, with the settings that belong to it, would change anything."""

    method = "stack_patch_changes"
    settings: SettingsChange = field(metadata=sent_as("laid_down"))


@dataclass(frozen=True, kw_only=True)
class DeleteStack(OfStack[None]):
    """Delete a stack; with the digest of a plan, only as the plan says.

    `retain` are the paths of resources, as plans have them, whose objects are retained. With `force`, objects that
    cannot be deleted are left behind.
    """

    method = "stack_delete"
    plan_digest: str | None = field(default=None, metadata=ADDED)
    retain: Sequence[str] = field(default=(), metadata=ADDED)
    force: bool = field(default=False, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class ActOnStack(OfStack[None]):
    """Start an action such as `suspend`, `cancel_update` or `retry`.

    A rollback or a retry with the digest of a plan is only done as the plan says. `refresh` says for which objects it
    asks the cloud, and which it corrects (`Refresh`); None means those of its plan, and without a plan none, or for a
    retry those of the failed operation. `skip` are the paths of failed resources, as plans have them, without which a
    retry continues.
    """

    method = "stack_action"
    action: str
    plan_digest: str | None = field(default=None, metadata=ADDED)
    skip: Sequence[str] = field(default=(), metadata=ADDED)
    refresh: str | None = field(default=None, metadata=ADDED)


# -- previews ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ValidateTemplate(TemplateInputs, Request[JSONObject]):
    """Check a template; the answer describes its parameters. `ignore_errors` has codes of checks to omit."""

    method = "validate_template"
    template: Mapping[str, Any] | str = field()  # required, unlike in the base class
    show_nested: bool = False
    ignore_errors: Sequence[str] = ()


class ImportableType(TypedDict):
    """The resources of a template whose objects can be imported, of one type."""

    resource_type: str
    names: Sequence[str]


class TemplateSummary(TypedDict):
    """What a template takes and contains."""

    description: str
    parameters: JSONObject
    types: Sequence[str]
    version: str
    metadata: Any
    transform: Any
    importable: NotRequired[Sequence[ImportableType]]


@dataclass(frozen=True, kw_only=True)
class SummarizeTemplate(Request[TemplateSummary]):
    """Describe a template."""

    method = "template_summary"
    template: Mapping[str, Any] | str


# -- show --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class IdentifyStack(OfStack[StackIdentity]):
    """Find the stack that a name, an ID or an ARN means."""

    method = "stack_identify"
    show_deleted: bool = False


@dataclass(frozen=True, kw_only=True)
class ShowStack(OfStack[StackDetails]):
    """Show a stack in full."""

    method = "stack_show"
    resolve_outputs: bool = True


class OperationEntry(TypedDict):
    """An operation; `continues` says that it continues a failed one of the same action."""

    id: str
    action: str
    continues: bool


class ListedStack(StackView):
    """A stack of a list; with its drift and the latest operation of each action, newest first, if requested."""

    drift: NotRequired[DriftSummary]
    last_operations: NotRequired[Sequence[OperationEntry]]


class StackPage(TypedDict):
    """A page of stacks; `count` is the number of all, if it was asked for."""

    stacks: Sequence[ListedStack]
    count: int | None


@dataclass(frozen=True, kw_only=True)
class ListStacks(Request[StackPage]):
    """List stacks, newest first by default."""

    method = "stack_list"
    filters: Mapping[str, Sequence[Any]] | None = None
    tags: Sequence[str] | None = None
    tags_any: Sequence[str] | None = None
    not_tags: Sequence[str] | None = None
    not_tags_any: Sequence[str] | None = None
    limit: int | None = None
    marker: str | None = None
    sort_keys: Sequence[str] | None = None
    sort_dir: str | None = None
    global_tenant: bool = False
    show_deleted: bool = False
    show_nested: bool = False
    show_hidden: bool = False
    with_count: bool = False
    with_latest: bool = field(default=False, metadata=ADDED)


CREATES_CHANGE_SET = "CREATE_CHANGE_SET"
"""The action of the operation that makes a change set, whose ID is that of the change set."""


class StackDescription(StackDetails):
    """A stack in full with its drift; for a nested one the names of the stacks above it by their IDs.

    `last_operations` has the latest operation of each action, newest first.
    """

    drift: DriftSummary
    last_operations: NotRequired[Sequence[OperationEntry]]
    above: NotRequired[Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class DescribeStack(OfStack[StackDescription]):
    """Show a stack in full, with its drift."""

    method = "stack_describe"


@dataclass(frozen=True, kw_only=True)
class DescribeStacks(Request[Sequence[StackDescription]]):
    """List stacks in full, newest first."""

    method = "stack_describe_page"
    limit: int
    marker: str | None = None


@dataclass(frozen=True, kw_only=True)
class OfDefinition(OfStack[Answer]):
    """A request about the present definition of a stack, or about that of one of its operations."""

    operation_id: str | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class ShowTemplate(OfDefinition[JSONObject]):
    """Show the template of a stack."""

    method = "stack_template"


@dataclass(frozen=True, kw_only=True)
class ShowEnvironment(OfDefinition[JSONObject]):
    """Show the environment of a stack."""

    method = "stack_environment"


@dataclass(frozen=True, kw_only=True)
class ShowFiles(OfDefinition[Mapping[str, str]]):
    """Show the files that came with the template of a stack."""

    method = "stack_files"


@dataclass(frozen=True, kw_only=True)
class ListOutputs(OfStack[Sequence[JSONObject]]):
    """List the keys and descriptions of the outputs."""

    method = "output_list"


@dataclass(frozen=True, kw_only=True)
class ShowOutput(OfStack[JSONObject]):
    """Show an output with its value."""

    method = "output_show"
    key: str


@dataclass(frozen=True, kw_only=True)
class ExportStack(OfStack[JSONObject]):
    """Export the document of a stack."""

    method = "stack_export"


@dataclass(frozen=True, kw_only=True)
class AbandonStack(OfStack[JSONObject]):
    """Remove a stack from the records and leave its objects; the answer is its document."""

    method = "stack_abandon"


# -- locks -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LockStack(OfStack[LockView | None]):
    """Lock a root stack with its nested stacks: no operation begins until it is unlocked."""

    method = "stack_lock"
    reason: str


@dataclass(frozen=True, kw_only=True)
class UnlockStack(OfStack[None]):
    """Unlock a root stack."""

    method = "stack_unlock"


# -- settings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ShowSettings(OfStack[TreeSettings]):
    """Show the settings of a stack."""

    method = "stack_settings_show"


@dataclass(frozen=True, kw_only=True)
class ChangeSettings(OfStack[StackIdentity]):
    """Change the given settings of a stack."""

    method = "stack_settings_change"
    changes: SettingsChange
