"""Requests about what the service offers: resource types, template versions, engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from stoker.contract.request import Request
from stoker.contract.views import JSONObject


class TypeSummary(TypedDict):
    """A resource type in a list."""

    resource_type: str
    description: str


@dataclass(frozen=True, kw_only=True)
class ListResourceTypes(Request[Sequence[str | TypeSummary]]):
    """List the resource types that the caller may use; names only, unless `with_description` is set."""

    method = "resource_type_list"
    support_status: str | None = None
    name: str | None = None
    version: str | None = None
    with_description: bool = False


class TypeDetails(TypedDict):
    """A resource type with the schemas of its properties and attributes."""

    resource_type: str
    properties: JSONObject
    attributes: JSONObject
    support_status: JSONObject
    description: NotRequired[str]


@dataclass(frozen=True, kw_only=True)
class ShowResourceType(Request[TypeDetails]):
    """Show the properties and attributes of a resource type."""

    method = "resource_type_show"
    type_name: str
    with_description: bool = False


@dataclass(frozen=True, kw_only=True)
class GenerateTemplate(Request[JSONObject]):
    """Generate a template with a resource of the type, as `cfn` or `hot`."""

    method = "resource_type_template"
    type_name: str
    template_type: str = "cfn"


@dataclass(frozen=True, kw_only=True)
class ListTemplateVersions(Request[Sequence[JSONObject]]):
    """List the template formats and versions."""

    method = "template_version_list"


@dataclass(frozen=True, kw_only=True)
class ListTemplateFunctions(Request[Sequence[JSONObject]]):
    """List the functions of a template version."""

    method = "template_function_list"
    version: str
    with_condition_func: bool = False


class EngineView(TypedDict):
    """An engine process."""

    id: str
    host: str
    hostname: str
    binary: str
    topic: str
    engine_id: str
    status: str
    created_at: float
    updated_at: float
    deleted_at: float | None
    report_interval: int


@dataclass(frozen=True, kw_only=True)
class ListEngines(Request[Sequence[EngineView]]):
    """List the engine processes, and whether each is alive."""

    method = "service_list"


@dataclass(frozen=True, kw_only=True)
class ShowBuildInfo(Request[dict[str, Any]]):
    """Show the revision of the engine."""

    method = "build_info"


@dataclass(frozen=True, kw_only=True)
class GetContainerFiles(Request[dict[str, str]]):
    """Read the objects of a container of the object store, by name; at most `limit` bytes in total."""

    method = "container_files"
    container: str
    limit: int


class ExportView(TypedDict):
    """A value that a stack exports; `importers` are the names of the stacks that import it, unless the engine is of the
    release before.
    """

    name: str
    value: Any
    stack_name: str
    stack_id: str
    importers: NotRequired[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class ListExports(Request[Sequence[ExportView]]):
    """List the exports of the project's stacks, by name."""

    method = "export_list"


@dataclass(frozen=True, kw_only=True)
class ListImports(Request[Sequence[str]]):
    """List the names of the stacks that import an export."""

    method = "import_list"
    name: str


class TokenClaim(TypedDict):
    """`state` is `claimed`, `answered` (with the `answer`), `unanswered` or `other`."""

    state: str
    answer: Any


@dataclass(frozen=True, kw_only=True)
class ClaimRequestToken(Request[TokenClaim]):
    """Announce that a request is about to be carried out; `digest` stands for its content."""

    method = "request_token_claim"
    token: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class SettleRequestToken(Request[None]):
    """Record the answer of a claimed request."""

    method = "request_token_settle"
    token: str
    answer: Any


@dataclass(frozen=True, kw_only=True)
class ReleaseRequestToken(Request[None]):
    """Release the claim of a request that failed."""

    method = "request_token_release"
    token: str
