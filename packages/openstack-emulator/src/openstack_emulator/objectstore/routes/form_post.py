"""Uploads from web forms: a signed form lets a browser send files without a token."""

from __future__ import annotations

from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import urlencode

from openstack_emulator.core.error_bodies import HTML
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response, decode
from openstack_emulator.objectstore.routes.paths import account_of, container_of
from openstack_emulator.objectstore.routes.temp_url import is_valid, keys, public_paths
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import explained
from openstack_emulator.objectstore.rules.inputs import NewObject
from openstack_emulator.objectstore.rules.metadata import is_number

SIGNED = ("redirect", "max_file_size", "max_file_count", "expires")


def is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("multipart/form-data")


def form_post(swift: ObjectStore, request: Request) -> Response:
    """Store the files of a form under the path it was sent to; answer where the form's `redirect` says.

    Raises: ApiError 401 for a form that has expired or is not signed by a key of the account or container.
    """
    fields, files = _parts(request)
    _check(swift, request, fields)
    try:
        _store(swift, request, fields, files)
        status, message = 201, ""
    except ApiError as error:
        status, message = error.status, error.message
    redirect = fields.get("redirect")
    if not redirect:
        return Response(message.encode() or None, status, {"Content-Type": HTML})
    location = f"{redirect}{'&' if '?' in redirect else '?'}{urlencode({'status': status, 'message': message})}"
    return Response(None, 303, {"Location": location})


def _parts(request: Request) -> tuple[dict[str, str], list[Message]]:
    """The fields of the form, and the files that come with it."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    form = BytesParser(policy=HTTP).parsebytes(head + request.body)
    parts = form.get_payload()
    if not form.is_multipart() or not isinstance(parts, list):
        raise explained(400, "FormPost: the body is not a form.")
    fields, files = {}, []
    for part in parts:
        if not isinstance(part, Message):
            continue
        if part.get_filename():
            files.append(part)
        else:
            name = str(part.get_param("name", header="content-disposition"))
            fields[name.replace("-", "_").lower()] = _bytes(part).decode("utf-8", "replace").strip()
    return fields, files


def _check(swift: ObjectStore, request: Request, fields: dict[str, str]) -> None:
    expires = fields.get("expires", "")
    if not is_number(expires) or int(expires) < swift.ticks.now():
        raise explained(401, "FormPost: Form Expired")
    signed = "\n".join(fields.get(name, "") for name in SIGNED)
    messages = [f"{path}\n{signed}" for path in public_paths(request, decode(request.raw_path))]
    known = keys(swift, account_of(request), container_of(request))
    if not is_valid(fields.get("signature", ""), messages, known):
        raise explained(401, "FormPost: Invalid Signature")


def _store(swift: ObjectStore, request: Request, fields: dict[str, str], files: list[Message]) -> None:
    if len(files) > _limit(fields, "max_file_count"):
        raise explained(400, "FormPost: max_file_count exceeded")
    if not files:
        raise explained(400, "FormPost: no files to process")
    container = swift.containers.require(account_of(request), container_of(request))
    delete_at = None
    if is_number(moment := fields.get("x_delete_at", "")):
        delete_at = int(moment)
    if is_number(seconds := fields.get("x_delete_after", "")):
        delete_at = int(swift.ticks.now()) + int(seconds)
    for part in files:
        data = _bytes(part)
        if len(data) > _limit(fields, "max_file_size"):
            raise explained(413, "FormPost: max_file_size exceeded")
        name = request.vars.get("object", "") + str(part.get_filename())
        swift.uploads.put(container, name, data, NewObject(content_type=part.get_content_type(), delete_at=delete_at))


def _limit(fields: dict[str, str], name: str) -> int:
    value = fields.get(name, "")
    if not is_number(value):
        raise explained(400, f"FormPost: {name} not an integer")
    return int(value)


def _bytes(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""
