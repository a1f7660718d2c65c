"""Many objects in one request: delete a list of paths, unpack an archive."""

from __future__ import annotations

import io
import mimetypes
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, unquote
from xml.etree.ElementTree import Element, SubElement

import orjson

from openstack_emulator.core.errors import ApiError, reason
from openstack_emulator.core.http import Request, Response
from openstack_emulator.objectstore.routes.listing import FORMATS, requested_format, xml_document
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import explained
from openstack_emulator.objectstore.rules.inputs import NewObject

MOST_DELETES = 10000
CREATED = "Number Files Created"
ARCHIVES: Mapping[str, Literal["r:", "r:gz", "r:bz2"]] = {"tar": "r:", "tar.gz": "r:gz", "tar.bz2": "r:bz2"}


@dataclass
class Outcome:
    """The result: counts by name, and the paths that failed with their status."""

    counts: dict[str, int]
    done: int
    errors: list[list[str]] = field(default_factory=list)
    message: str = ""

    @property
    def status(self) -> int:
        return 400 if self.errors or self.message else self.done


def bulk_delete(swift: ObjectStore, request: Request, account: str) -> Response:
    """Delete what the body names, an encoded path per line: objects, or containers that are empty."""
    lines = [line.strip() for line in request.body.decode("utf-8", "replace").splitlines()]
    paths = [unquote(line) for line in lines if line]
    if len(paths) > MOST_DELETES:
        raise explained(413, f"Maximum Bulk Deletes: {MOST_DELETES} per request")
    return report(request, deleted_paths(swift, account, paths))


def deleted_paths(swift: ObjectStore, account: str, paths: Iterable[str]) -> Outcome:
    deleted, missing = "Number Deleted", "Number Not Found"
    counts = {deleted: 0, missing: 0}
    outcome = Outcome(counts, 200)
    for path in paths:
        name, _, key = path.lstrip("/").partition("/")
        try:
            container = swift.containers.require(account, name)
            if key:
                swift.uploads.delete(container, key)
            else:
                swift.containers.delete(container)
            counts[deleted] += 1
        except ApiError as error:
            if error.status == 404:
                counts[missing] += 1
            else:
                outcome.errors.append([quote(path), f"{error.status} {error.title}"])
    if not outcome.errors and not any(counts.values()):
        outcome.message = "Invalid bulk delete."
    return outcome


def bulk_upload(swift: ObjectStore, request: Request, account: str, prefix: str) -> Response:
    """Unpack an archive; `prefix` comes before the paths in it, so that each becomes `container/object`."""
    kind = request.query.get("extract-archive") or ""
    if kind not in ARCHIVES:
        raise explained(400, "Unsupported archive format")
    outcome = Outcome({CREATED: 0}, 201)
    try:
        with tarfile.open(fileobj=io.BytesIO(request.body), mode=ARCHIVES[kind]) as archive:
            for member in archive:
                if member.isfile():
                    data = archive.extractfile(member)
                    _unpack(
                        swift, account, prefix + member.name.removeprefix("./"), data.read() if data else b"", outcome
                    )
    except (tarfile.TarError, OSError, EOFError) as error:
        outcome.message = f"Invalid Tar File: {error}"
    if not outcome.counts[CREATED] and not outcome.errors and not outcome.message:
        outcome.message = "Invalid Tar File: No Valid Files"
    return report(request, outcome)


def report(request: Request, outcome: Outcome) -> Response:
    """The answer, with status 200 whatever the result: the status that counts is in the body."""
    status = f"{outcome.status} {reason(outcome.status)}"
    form = requested_format(request)
    facts = {**outcome.counts, "Response Body": outcome.message, "Response Status": status}
    if form == "json":
        body = orjson.dumps({**facts, "Errors": outcome.errors})
    elif form == "xml":
        body = _xml(facts, outcome.errors)
    else:
        lines = [f"{name}: {value}" for name, value in facts.items()]
        lines += ["Errors:", *(f"{path}, {error}" for path, error in outcome.errors)]
        body = ("\n".join(lines) + "\n").encode()
    return Response(body, 200, {"Content-Type": FORMATS[form].partition(";")[0]})


def _unpack(swift: ObjectStore, account: str, path: str, data: bytes, outcome: Outcome) -> None:
    name, _, key = path.lstrip("/").partition("/")
    if not key:
        return
    try:
        container = swift.containers.find(account, name) or swift.containers.put(account, name, {})[0]
        content_type = mimetypes.guess_type(key)[0] or "application/octet-stream"
        swift.uploads.put(container, key, data, NewObject(content_type=content_type))
        outcome.counts[CREATED] += 1
    except ApiError as error:
        outcome.errors.append([quote(path), f"{error.status} {error.title}"])


def _xml(facts: Mapping[str, object], errors: list[list[str]]) -> bytes:
    tree = Element("delete" if "Number Deleted" in facts else "extract")
    for name, value in facts.items():
        SubElement(tree, name.replace(" ", "_").lower()).text = str(value)
    parent = SubElement(tree, "errors")
    for path, status in errors:
        entry = SubElement(parent, "object")
        SubElement(entry, "name").text = path
        SubElement(entry, "status").text = status
    return xml_document(tree)
