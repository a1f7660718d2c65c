"""All routes of the image service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.http import Request, Response
from openstack_emulator.image.routes import data, images, imports, info, members, metadefs, schemas, stores
from openstack_emulator.image.routes.metadefs import ASSOCIATIONS, OBJECTS, PROPERTIES, TAG_ROUTES
from openstack_emulator.image.rules.composition import ImageService

Routes = Mapping[str, Mapping[str, Callable[[ImageService, Request], Response]]]

ROUTES: Routes = {
    "/images": {"GET": images.index, "POST": images.create},
    "/images/{image_id}": {"GET": images.show, "PATCH": images.update, "DELETE": images.delete},
    "/images/{image_id}/actions/deactivate": {"POST": images.deactivate},
    "/images/{image_id}/actions/reactivate": {"POST": images.reactivate},
    "/images/{image_id}/file": {"GET": data.download, "PUT": data.upload},
    "/images/{image_id}/import": {"POST": imports.begin},
    "/images/{image_id}/members": {"GET": members.index, "POST": members.create},
    "/images/{image_id}/members/{member_id}": {
        "GET": members.show,
        "PUT": members.update,
        "DELETE": members.delete,
    },
    "/images/{image_id}/stage": {"PUT": data.stage},
    "/images/{image_id}/tags/{tag}": {"PUT": images.add_tag, "DELETE": images.remove_tag},
    "/images/{image_id}/tasks": {"GET": imports.index_of_image},
    "/info/import": {"GET": info.import_info},
    "/info/stores": {"GET": stores.info},
    "/info/stores/detail": {"GET": stores.detail},
    "/info/usage": {"GET": info.usage},
    "/metadefs/namespaces": {"GET": metadefs.index, "POST": metadefs.create},
    "/metadefs/namespaces/{namespace}": {"GET": metadefs.show, "PUT": metadefs.update, "DELETE": metadefs.delete},
    "/metadefs/namespaces/{namespace}/objects": {
        "GET": OBJECTS.index,
        "POST": OBJECTS.create,
        "DELETE": OBJECTS.delete_all,
    },
    "/metadefs/namespaces/{namespace}/objects/{name}": {
        "GET": OBJECTS.show,
        "PUT": OBJECTS.update,
        "DELETE": OBJECTS.delete,
    },
    "/metadefs/namespaces/{namespace}/properties": {
        "GET": PROPERTIES.index,
        "POST": PROPERTIES.create,
        "DELETE": PROPERTIES.delete_all,
    },
    "/metadefs/namespaces/{namespace}/properties/{name}": {
        "GET": PROPERTIES.show,
        "PUT": PROPERTIES.update,
        "DELETE": PROPERTIES.delete,
    },
    "/metadefs/namespaces/{namespace}/resource_types": {"GET": ASSOCIATIONS.index, "POST": ASSOCIATIONS.create},
    "/metadefs/namespaces/{namespace}/resource_types/{name}": {"DELETE": ASSOCIATIONS.delete},
    "/metadefs/namespaces/{namespace}/tags": {
        "GET": TAG_ROUTES.index,
        "POST": TAG_ROUTES.replace_all,
        "DELETE": TAG_ROUTES.delete_all,
    },
    "/metadefs/namespaces/{namespace}/tags/{name}": {
        "GET": TAG_ROUTES.show,
        "POST": TAG_ROUTES.create_named,
        "PUT": TAG_ROUTES.update,
        "DELETE": TAG_ROUTES.delete,
    },
    "/metadefs/resource_types": {"GET": metadefs.list_resource_types},
    "/schemas/metadefs/{name}": {"GET": metadefs.show_schema},
    "/schemas/{name}": {"GET": schemas.show},
    "/stores/{store}/{image_id}": {"DELETE": stores.delete_from},
    "/tasks": {"GET": imports.index, "POST": imports.create},
    "/tasks/{task_id}": {"GET": imports.show},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {"/": {"GET": info.choices}, "/versions": {"GET": info.versions}}
"""What is directly below the mount: the versions."""
