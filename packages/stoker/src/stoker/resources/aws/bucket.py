"""AWS::S3::Bucket: a container of the object store with CloudFormation's properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.aws.tags import as_map, tags
from stoker.resources.aws.translated import Translated
from stoker.resources.declare import one_of
from stoker.resources.swift.container import Container
from stoker.schema.live import LISTED
from stoker.schema.property import Attribute, Property, Type

_ANYBODY = ".r:*"


class Bucket(Translated):
    """A container, which only its owner may read and write unless AccessControl says otherwise."""

    type_name = "AWS::S3::Bucket"
    description = "A container of the object store."
    target = Container
    live_otherwise = LISTED

    properties = {
        "AccessControl": Property(
            description="Who may read and write the bucket, besides its owner.",
            constraints=one_of(
                "Private",
                "PublicRead",
                "PublicReadWrite",
                "AuthenticatedRead",
                "BucketOwnerRead",
                "BucketOwnerFullControl",
            ),
        ),
        "WebsiteConfiguration": Property(
            Type.MAP,
            "Makes the bucket a static web site.",
            schema={
                "IndexDocument": Property(description="The object that is shown for a folder."),
                "ErrorDocument": Property(description="Suffix of the objects that are shown for errors."),
            },
        ),
        "Tags": tags("Tags, which become metadata of the container."),
    }
    attributes = {
        "DomainName": Attribute("Host of the bucket's URL.", Type.STRING),
        "WebsiteURL": Attribute("URL of the bucket.", Type.STRING),
    }

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        """Compare with the container: several properties make its metadata, and all of them count as one."""
        translated = await self.translate(call)
        found = await Container().observe(translated)
        if found is None:
            return None
        call.report.compared.update(self.properties)
        access = dict.fromkeys(["AccessControl"] if found.keys() & {"X-Container-Read", "X-Container-Write"} else [])
        given = [name for name in ("Tags", "WebsiteConfiguration") if call.properties[name] is not None]
        return {**access, **dict.fromkeys(given if "X-Container-Meta" in found else [])}

    async def translated(self, call: Call, properties: Mapping[str, Any]) -> Mapping[str, object]:
        metadata = {f"S3-Tag-{key}": value for key, value in as_map(properties["Tags"]).items()}
        site = properties["WebsiteConfiguration"] or {}
        pages = {"Web-Index": site.get("IndexDocument"), "Web-Error": site.get("ErrorDocument")}
        metadata |= {name: value for name, value in pages.items() if value is not None}
        read, write = _access(call, properties["AccessControl"])
        return {"X-Container-Read": read, "X-Container-Write": write, "X-Container-Meta": metadata}


def _access(call: Call, control: str | None) -> tuple[str, str]:
    """Return the access control lists for reading and writing (Swift, "Container ACLs": IDs of project and user)."""
    owner = f"{call.cloud.project_id}:{call.cloud.user_id}"
    lists = {
        "PublicRead": (_ANYBODY, owner),
        "PublicReadWrite": (_ANYBODY, _ANYBODY),
        "AuthenticatedRead": (f"{call.cloud.project_id}:*", owner),
    }
    return lists.get(control or "", (owner, owner))
