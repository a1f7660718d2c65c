"""Images of containers on the host: those that were pulled for a container, or by request."""

from __future__ import annotations

from typing import Any

from openstack_emulator.container.description import DRIVERS
from openstack_emulator.container.hosts import HOST
from openstack_emulator.container.http import SCHEMA, listed
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import links, writer
from openstack_emulator.core.store import Record
from openstack_emulator.image.rules.composition import ImageService

SIZE = 4_194_304
"""Bytes of an image from a registry."""
_FORMS = {"repo": fields.text(2), "image_driver": fields.nullable(fields.one_of(*DRIVERS))}


class Images(Component):
    """Registries have every image; the image service has those that the project may use there."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection("images", ("project_id",), _missing)

    def pulled(self, project_id: str, name: str, driver: str) -> Record | None:
        """Return the image that was pulled under a name with or without a tag; None when there is none."""
        repository, tag = _parts(name)
        return self.rows.first(project_id=project_id, repo=repository, tag=tag, driver=driver)

    def problem(self, project_id: str, name: str, driver: str, policy: str | None) -> str | None:
        """Return why an image cannot be had with a pull policy; None when it is, or has now been, pulled."""
        if policy != "always" and self.pulled(project_id, name, driver) is not None:
            return None
        if policy == "never":
            return f"Image {name} is not present with pull policy of Never"
        return self.pull(project_id, name, driver)

    def pull(self, project_id: str, name: str, driver: str) -> str | None:
        """Pull an image; return why it cannot be had."""
        size = SIZE
        if driver == "glance":
            found = self.cloud.of(ImageService).images.named(project_id, name)
            if found is None:
                return f"Image {name} not found"
            size = found.size or 0
        if self.pulled(project_id, name, driver) is None:
            repository, tag = _parts(name)
            identifier = new_id()
            self.rows.add(
                {
                    "id": identifier,
                    "uuid": identifier,
                    "image_id": f"sha256:{identifier.replace('-', '') * 2}",
                    "repo": repository,
                    "tag": tag,
                    "size": size,
                    "host": HOST,
                    "driver": driver,
                    "project_id": project_id,
                }
            )
        return None


def _parts(name: str) -> tuple[str, str]:
    """Return the repository and the tag of an image's name: a colon before the last slash is part of a host's port."""
    path, slash, last = name.rpartition("/")
    base, _, tag = last.partition(":")
    return f"{path}{slash}{base}", tag or "latest"


def _missing(key: str) -> ApiError:
    return bad_request(f"Image {key} could not be found.", "image-not-found")


def view(base: str, row: Record) -> dict[str, Any]:
    """Return an image as clients see it."""
    shown = {name: value for name, value in row.items() if name not in ("id", "driver") and name[0] != "_"}
    return {**shown, "links": links(base, "images", row["id"])}


def _own(images: Images, request: Request) -> Record:
    row = images.rows.require(request.vars["key"])
    if not request.context.may_see(row):
        raise images.rows.missing(request.vars["key"])
    return row


def index(images: Images, request: Request) -> Response:
    request.context.require()
    return listed(request, "images", "image", list(images.rows), view)


def create(images: Images, request: Request) -> Response:
    """Pull an image. Raises ApiError 400, also for an image that cannot be had."""
    context = writer(request)
    body = request.json
    if not isinstance(body, dict) or body.keys() - {*_FORMS, "image_pull_policy", "host"}:
        raise bad_request("The request body must be a JSON object with repo, image_driver, image_pull_policy, host.")
    policy = body.get("image_pull_policy") or "ifnotpresent"
    policy = body.get("image_pull_policy") or "ifnotpresent"
    if body.get("host") not in (None, "", HOST) or policy not in ("ifnotpresent", "always"):
        raise bad_request(f"The only host is {HOST}, and the pull policies are ifnotpresent and always.")
    wanted = {name: body[name] for name in _FORMS if name in body}
    if "repo" not in wanted:
        raise bad_request("'repo' is a required property", SCHEMA)
    fields.check_fields(wanted, _FORMS)
    name, driver = wanted["repo"], wanted.get("image_driver") or "docker"
    if (problem := images.pull(context.project, name, driver)) is not None:
        raise bad_request(problem)
    row = images.pulled(context.project, name, driver)
    return Response(None if row is None else view(request.base, row), 202)


def show(images: Images, request: Request) -> Response:
    return Response(view(request.base, _own(images, request)))


def delete(images: Images, request: Request) -> Response:
    writer(request)
    images.rows.remove(_own(images, request))
    return Response(status=204)


IMAGE_ROUTES = using(
    Images,
    {
        "/images": {"GET": index, "POST": create},
        "/images/{key}": {"GET": show, "DELETE": delete},
    },
)
