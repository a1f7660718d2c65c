"""Requests about packages and categories."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import orjson

from openstack_emulator.catalog.archive import LARGEST, part
from openstack_emulator.catalog.packages import CHANGEABLE, Categories, Packages
from openstack_emulator.core import fields
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.json_patch import REFUSALS, Dialect, Operation, operations
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import Record

_HIDDEN = frozenset({"project_id"})
_LISTS = frozenset({"tags", "categories"})
_ORDERS = {"fqn": "fully_qualified_name", "name": "name", "created": "created"}
_FILTERS: Mapping[str, Callable[[Record, list[str]], bool]] = {
    "id": lambda row, wanted: row["id"] in wanted,
    "fqn": lambda row, wanted: row["fully_qualified_name"] in wanted,
    "name": lambda row, wanted: row["name"] in wanted,
    "type": lambda row, wanted: row["type"].lower() in [one.lower() for one in wanted],
    "category": lambda row, wanted: any(one in wanted for one in row["categories"]),
    "tag": lambda row, wanted: any(one in wanted for one in row["tags"]),
    "class_name": lambda row, wanted: any(one in wanted for one in row["class_definitions"]),
}


def view(row: Record) -> dict[str, Any]:
    """Return what is shown of a package."""
    return {name: value for name, value in row.items() if name not in _HIDDEN and name[:1] != "_"}


def list_packages(packages: Packages, request: Request) -> Response:
    """The packages that the query selects. Raises ApiError 400."""
    query, context = request.query, request.context
    rows = packages.listed(context, bool(query.boolean("catalog")))
    if query.boolean("owned"):
        rows = [row for row in rows if row["owner_id"] == context.project_id]
    if not query.boolean("include_disabled"):
        rows = [row for row in rows if row["enabled"]]
    for name, holds in _FILTERS.items():
        wanted = [value for given in query.all(name) for value in _values(given)]
        if wanted:
            rows = [row for row in rows if holds(row, wanted)]
    for words in query.all("search"):
        rows = [row for row in rows if _mentions(row, words)]
    order = query.get("order_by", "created") or "created"
    if order not in _ORDERS:
        raise bad_request(f"Unexpected order_by value {order}: it must be one of {', '.join(_ORDERS)}")
    found = page(sorted(rows, key=lambda row: str(row[_ORDERS[order]])), query)
    body: dict[str, Any] = {"packages": [view(row) for row in found.rows]}
    if found.truncated and found.next_marker is not None:
        body["next_marker"] = found.next_marker
    return Response(body)


def _values(given: str) -> list[str]:
    """Return the values of a filter: `one`, or `in:one,two`."""
    return given.removeprefix("in:").split(",") if given.startswith("in:") else [given]


def _mentions(row: Record, words: str) -> bool:
    texts = [
        row["name"],
        row["fully_qualified_name"],
        row["description"],
        row["author"],
        *row["tags"],
        *row["categories"],
    ]
    return any(word.lower() in text.lower() for word in words.split() for text in texts)


def upload_package(packages: Packages, request: Request) -> Response:
    """Add the package in a form with two parts: the fields as JSON, and the archive. Raises ApiError 400."""
    given, data = _form(request)
    if data is None:
        raise bad_request("There is no file package with application description")
    if len(data) > LARGEST:
        raise bad_request(f"Uploading file is too large. The limit is {LARGEST // 1024**2} Mb")
    return Response(view(packages.upload(request.context, given, data)))


def _form(request: Request) -> tuple[dict[str, Any], bytes | None]:
    kind = request.headers.get("content-type", "")
    if not kind.startswith("multipart/form-data"):
        raise bad_request("The content type of a package must be multipart/form-data")
    form = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + request.body)
    parts = form.get_payload()
    if not form.is_multipart() or not isinstance(parts, list):
        raise bad_request("The body is not a form")
    given: dict[str, Any] = {}
    data: bytes | None = None
    for one in parts:
        if not isinstance(one, Message):
            continue
        content = one.get_payload(decode=True)
        content = content if isinstance(content, bytes) else b""
        if one.get_filename() or one.get_param("name", header="content-disposition") == "file":
            data = content
        elif content.strip():
            given = _fields(content)
    return given, data


def _fields(content: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"The package's fields are not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise bad_request("The package's fields must be a JSON object")
    return found


def _package(packages: Packages, request: Request) -> Record:
    return packages.find(request.context, request.vars["package_id"])


def show_package(packages: Packages, request: Request) -> Response:
    return Response(view(_package(packages, request)))


def change_package(packages: Packages, request: Request) -> Response:
    """Change a package by a JSON-patch document. Raises ApiError: 400, or 403 for a field that cannot be changed."""
    row = packages.own(request.context, request.vars["package_id"])
    changes: dict[str, Any] = {}
    for operation in operations(request.json, Dialect(REFUSALS)):
        name = operation.path.removeprefix("/")
        if name not in CHANGEABLE:
            raise forbidden(f"Method '{operation.op}' is not allowed for a path with name '{name}'")
        changes[name] = _patched(name, operation, changes.get(name, copy.copy(row[name])))
    packages.change(request.context, row, changes)
    return Response(view(row))


def _patched(name: str, operation: Operation, value: Any) -> Any:
    """Return the new value of a field. Lists get or lose the values of an operation."""
    if operation.op == "replace":
        return operation.value
    if name not in _LISTS:
        raise forbidden(f"Method '{operation.op}' is not allowed for a path with name '{name}'")
    given = [] if operation.op == "remove" and operation.value is None else operation.value
    if not isinstance(given, list):
        raise bad_request(f"The value of {name} must be an array")
    if operation.op == "add":
        return [*value, *(one for one in given if one not in value)]
    return [one for one in value if one not in given]


def delete_package(packages: Packages, request: Request) -> Response:
    packages.remove(packages.own(request.context, request.vars["package_id"]))
    return Response()


def download(packages: Packages, request: Request) -> Response:
    return Response(packages.data(_package(packages, request)), headers={"Content-Type": "application/octet-stream"})


def _part(kind: str) -> Callable[[Packages, Request], Response]:
    """Return the handler that shows a file of a package."""

    def show(packages: Packages, request: Request) -> Response:
        found = part(packages.data(_package(packages, request)), kind)
        if found is None:
            raise not_found(f"The package has no {kind}")
        return Response(found, headers={"Content-Type": "application/octet-stream"})

    return show


# -- categories -------------------------------------------------------------------------------------------------------


def _category_view(packages: Packages, row: Record) -> dict[str, Any]:
    shown = {name: row[name] for name in ("id", "name", "created", "updated")}
    return {**shown, "package_count": len(packages.in_category(row["name"]))}


def _categories(packages: Packages) -> Categories:
    return packages.records.component(Categories)


def list_category_names(packages: Packages, request: Request) -> Response:
    return Response({"categories": [row["name"] for row in _categories(packages).rows]})


def list_categories(packages: Packages, request: Request) -> Response:
    return Response({"categories": [_category_view(packages, row) for row in _categories(packages).rows]})


def add_category(packages: Packages, request: Request) -> Response:
    request.context.require()
    given = request.json
    fields.check_fields(given, {"name": fields.anything}, ("name",))
    return Response(_category_view(packages, _categories(packages).add(given["name"])))


def show_category(packages: Packages, request: Request) -> Response:
    row = _categories(packages).rows.require(request.vars["category_id"])
    held = packages.in_category(row["name"])
    shown = [{name: one[name] for name in ("fully_qualified_name", "id", "name")} for one in held]
    return Response({**_category_view(packages, row), "packages": shown})


def delete_category(packages: Packages, request: Request) -> Response:
    request.context.require()
    rows = _categories(packages).rows
    row = rows.require(request.vars["category_id"])
    if packages.in_category(row["name"]):
        raise forbidden(f"Category with id {row['id']} has packages; it can't be deleted")
    rows.remove(row)
    return Response()


ROUTES = merged(
    using(
        Packages,
        {
            "/catalog/packages": {"GET": list_packages, "POST": upload_package},
            "/catalog/packages/{package_id}": {"GET": show_package, "PATCH": change_package, "DELETE": delete_package},
            "/catalog/packages/{package_id}/download": {"GET": download},
            "/catalog/packages/{package_id}/ui": {"GET": _part("ui")},
            "/catalog/packages/{package_id}/logo": {"GET": _part("logo")},
            "/catalog/packages/{package_id}/supplier_logo": {"GET": _part("supplier_logo")},
            "/catalog/packages/categories": {"GET": list_category_names},
            "/catalog/categories": {"GET": list_categories, "POST": add_category},
            "/catalog/categories/{category_id}": {"GET": show_category, "DELETE": delete_category},
        },
    ),
)
