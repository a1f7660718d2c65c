"""Requests about packages and categories."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import orjson

from openstack_emulator.catalog.records import Package
from openstack_emulator.catalog.rules.archives import MAXIMUM_BYTES, file_in
from openstack_emulator.catalog.rules.composition import ApplicationCatalog
from openstack_emulator.catalog.views import package_view
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.json_patch import REFUSALS, Dialect, Operation, operations
from openstack_emulator.core.paging import page
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.problems import Check

_STRINGS = fields.items(fields.text(1, 80))
CHANGEABLE: Mapping[str, Check] = {
    "name": fields.name(1, 80),
    "description": fields.text(0, 8192),
    "tags": _STRINGS,
    "categories": _STRINGS,
    "is_public": fields.boolean,
    "enabled": fields.boolean,
}
"""The fields of a package that clients set."""
_LISTS = frozenset({"tags", "categories"})
_ORDERS = {"fqn": "fully_qualified_name", "name": "name", "created": "created"}
_FILTERS: Mapping[str, Callable[[Package, list[str]], bool]] = {
    "id": lambda row, values: row.id in values,
    "fqn": lambda row, values: row.fully_qualified_name in values,
    "name": lambda row, values: row.name in values,
    "type": lambda row, values: row.type.lower() in [value.lower() for value in values],
    "category": lambda row, values: any(category in values for category in row.categories),
    "tag": lambda row, values: any(tag in values for tag in row.tags),
    "class_name": lambda row, values: any(definition in values for definition in row.class_definitions),
}


def index(service: ApplicationCatalog, request: Request) -> Response:
    """A page of the packages that the query selects. Raises ApiError 400."""
    query = request.query
    rows = _selected(service, request)
    order = query.get("order_by", "created") or "created"
    if order not in _ORDERS:
        raise bad_request(f"Unexpected order_by value {order}: it must be one of {', '.join(_ORDERS)}")
    found = page(sorted(rows, key=lambda row: str(row.get(_ORDERS[order]))), query)
    body: dict[str, Any] = {"packages": [package_view(row) for row in found.rows]}
    if found.truncated and found.next_marker is not None:
        body |= {"next_marker": found.next_marker}
    return Response(body)


def _selected(service: ApplicationCatalog, request: Request) -> list[Package]:
    """The packages that the caller may see and that all filters of the query select."""
    query, context = request.query, request.context
    rows = service.packages.listed(context, bool(query.boolean("catalog")))
    if query.boolean("owned"):
        rows = [row for row in rows if row.owner_id == context.project_id]
    if not query.boolean("include_disabled"):
        rows = [row for row in rows if row.enabled]
    for name, holds in _FILTERS.items():
        values = [value for argument in query.all(name) for value in _values(argument)]
        if values:
            rows = [row for row in rows if holds(row, values)]
    for words in query.all("search"):
        rows = [row for row in rows if _mentions(row, words)]
    return rows


def _values(value: str) -> list[str]:
    """Return the values of a filter: `one`, or `in:one,two`."""
    return value.removeprefix("in:").split(",") if value.startswith("in:") else [value]


def _mentions(row: Package, words: str) -> bool:
    """Whether one of the words is in what a package says of itself, in whatever case."""
    texts = [
        row.name,
        row.fully_qualified_name,
        row.description,
        row.author,
        *row.tags,
        *row.categories,
    ]
    return any(word.lower() in text.lower() for word in words.split() for text in texts)


def upload(service: ApplicationCatalog, request: Request) -> Response:
    """Add the package in a form with two parts: the fields as JSON, and the archive. Raises ApiError 400."""
    values, data = _form(request)
    if data is None:
        raise bad_request("There is no file package with application description")
    if len(data) > MAXIMUM_BYTES:
        raise bad_request(f"Uploading file is too large. The limit is {MAXIMUM_BYTES // 1024**2} Mb")
    return Response(
        package_view(service.packages.upload(request.context, _checked(service, request.context, values), data))
    )


def _form(request: Request) -> tuple[dict[str, object], bytes | None]:
    """The fields and the archive in a form. Raises ApiError 400 for another body."""
    kind = request.headers.get("content-type", "")
    if not kind.startswith("multipart/form-data"):
        raise bad_request("The content type of a package must be multipart/form-data")
    form = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + request.body)
    parts = form.get_payload()
    if not form.is_multipart() or not isinstance(parts, list):
        raise bad_request("The body is not a form")
    values: dict[str, Any] = {}
    data: bytes | None = None
    for part in parts:
        if not isinstance(part, Message):
            continue
        content = part.get_payload(decode=True)
        content = content if isinstance(content, bytes) else b""
        if part.get_filename() or part.get_param("name", header="content-disposition") == "file":
            data = content
        elif content.strip():
            values = _fields(content)
    return values, data


def _fields(content: bytes) -> dict[str, object]:
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"The package's fields are not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise bad_request("The package's fields must be a JSON object")
    return found


def _checked(service: ApplicationCatalog, context: Context, body: Any) -> dict[str, Any]:
    """Return the fields of a request. Raises ApiError: 400, or 403 for who may not publish packages."""
    check_fields(body, CHANGEABLE)
    request_body = {
        name: as_boolean(value) if name in ("is_public", "enabled") else value for name, value in body.items()
    }
    for category in body.get("categories", ()):
        if service.categories.rows.first(name=category) is None:
            raise bad_request(f"Category '{category}' doesn't exist")
    if request_body.get("is_public"):
        context.require()
    return request_body


def _found(service: ApplicationCatalog, request: Request) -> Package:
    return service.packages.find(request.context, request.vars["package_id"])


def _own(service: ApplicationCatalog, request: Request) -> Package:
    return service.packages.own(request.context, request.vars["package_id"])


def show(service: ApplicationCatalog, request: Request) -> Response:
    return Response(package_view(_found(service, request)))


def change(service: ApplicationCatalog, request: Request) -> Response:
    """Change a package by a JSON-patch document. Raises ApiError: 400, or 403 for a field that cannot be changed."""
    row = _own(service, request)
    changes: dict[str, Any] = {}
    for operation in operations(request.json, Dialect(REFUSALS)):
        name = operation.path.removeprefix("/")
        if name not in CHANGEABLE:
            raise forbidden(f"Method '{operation.op}' is not allowed for a path with name '{name}'")
        changes[name] = _patched(name, operation, changes.get(name, copy.copy(row.get(name))))
    service.packages.change(row, _checked(service, request.context, changes))
    return Response(package_view(row))


def _patched(name: str, operation: Operation, value: Any) -> object:
    """Return the new value of a field. Lists get or lose the values of an operation."""
    if operation.op == "replace":
        return operation.value
    if name not in _LISTS:
        raise forbidden(f"Method '{operation.op}' is not allowed for a path with name '{name}'")
    elements = [] if operation.op == "remove" and operation.value is None else operation.value
    if not isinstance(elements, list):
        raise bad_request(f"The value of {name} must be an array")
    if operation.op == "add":
        return [*value, *(element for element in elements if element not in value)]
    return [element for element in value if element not in elements]


def delete(service: ApplicationCatalog, request: Request) -> Response:
    service.packages.remove(_own(service, request))
    return Response()


def download(service: ApplicationCatalog, request: Request) -> Response:
    return Response(
        service.packages.data(_found(service, request)), headers={"Content-Type": "application/octet-stream"}
    )


def _file_handler(kind: str) -> Callable[[ApplicationCatalog, Request], Response]:
    """Return the handler that shows a file of a package."""

    def serve(service: ApplicationCatalog, request: Request) -> Response:
        found = file_in(service.packages.data(_found(service, request)), kind)
        if found is None:
            raise not_found(f"The package has no {kind}")
        return Response(found, headers={"Content-Type": "application/octet-stream"})

    return serve


show_ui = _file_handler("ui")
show_logo = _file_handler("logo")
show_supplier_logo = _file_handler("supplier_logo")
