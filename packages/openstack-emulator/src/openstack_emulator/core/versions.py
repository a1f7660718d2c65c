"""Version documents: which versions of its API a service has, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.cloud import Handler, Microversions
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.microversions import negotiate

DESCRIBED = {"rel": "describedby", "type": "text/html", "href": "https://docs.openstack.org/"}


def own(path: str) -> dict[str, str]:
    """The link to a version that is at a path of the service."""
    return {"rel": "self", "href": f"{{base}}{path}"}


def media_type(name: str, form: str = "json", version: str = "") -> dict[str, str]:
    """The description of a media type, such as `identity-v3`."""
    suffix = f";version={version}" if version else ""
    return {"base": f"application/{form}", "type": f"application/vnd.openstack.{name}+{form}{suffix}"}


@dataclass(frozen=True)
class ApiVersion:
    """A version of an API.

    links: as the document has them; `{base}` in their addresses is that of the service. details: further members of the
    document.
    """

    id: str
    links: tuple[Mapping[str, str], ...]
    status: str = "CURRENT"
    details: Mapping[str, object] = field(default_factory=dict)

    def document(self, request: Request) -> dict[str, Any]:
        links = [{**link, "href": link["href"].replace("{base}", request.base)} for link in self.links]
        return {"id": self.id, "status": self.status, **self.details, "links": links}


def all_versions(
    *known: ApiVersion,
    status: int = 200,
    nested: bool = False,
    located: bool = False,
    default: bool = False,
    microversions: Microversions | None = None,
    around: Mapping[str, object] | None = None,
) -> Handler:
    """The handler that lists versions.

    nested: below `values`. located: the header `Location` names the address of the first, default: the body names it as
    the default version. microversions: of which the request may ask for one. around: further members of the body.
    """

    def show(records: object, request: Request) -> Response:
        if microversions is not None:
            negotiate(microversions, request)
        documents = [version.document(request) for version in known]
        body = {**(around or {}), "versions": {"values": documents} if nested else documents}
        if default:
            body["default_version"] = documents[0]
        return Response(body, status, {"Location": documents[0]["links"][0]["href"]} if located else {})

    return show


def one_version(version: ApiVersion) -> Handler:
    """The handler that shows a version."""
    return lambda records, request: Response({"version": version.document(request)})


def collections(request: Request, prefix: str, paths: Mapping[str, str]) -> dict[str, list[dict[str, str]]]:
    """The links to the collections of an API, by name; paths: of each, below the path of the version."""
    return {
        name: [
            {"rel": "self", "href": f"{request.base}{prefix}/{path}"},
            {"rel": "bookmark", "href": f"{request.base}/{path}"},
        ]
        for name, path in paths.items()
    }
