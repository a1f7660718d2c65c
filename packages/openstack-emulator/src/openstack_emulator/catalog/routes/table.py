"""All routes of the application catalog, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.catalog.routes import categories, environments, packages, templates
from openstack_emulator.catalog.rules.composition import ApplicationCatalog
from openstack_emulator.core.http import Request, Response

Routes = Mapping[str, Mapping[str, Callable[[ApplicationCatalog, Request], Response]]]
ROUTES: Routes = {
    "/catalog/categories": {"GET": categories.index, "POST": categories.create},
    "/catalog/categories/{category_id}": {"GET": categories.show, "DELETE": categories.delete},
    "/catalog/packages": {"GET": packages.index, "POST": packages.upload},
    "/catalog/packages/categories": {"GET": categories.list_names},
    "/catalog/packages/{package_id}": {"GET": packages.show, "PATCH": packages.change, "DELETE": packages.delete},
    "/catalog/packages/{package_id}/download": {"GET": packages.download},
    "/catalog/packages/{package_id}/logo": {"GET": packages.show_logo},
    "/catalog/packages/{package_id}/supplier_logo": {"GET": packages.show_supplier_logo},
    "/catalog/packages/{package_id}/ui": {"GET": packages.show_ui},
    "/deployments": {"GET": environments.list_all_deployments},
    "/environments": {"GET": environments.index, "POST": environments.create},
    "/environments/{environment_id}": {
        "GET": environments.show,
        "PUT": environments.rename,
        "DELETE": environments.delete,
    },
    "/environments/{environment_id}/configure": {"POST": environments.configure},
    "/environments/{environment_id}/deployments": {"GET": environments.list_deployments},
    "/environments/{environment_id}/deployments/{deployment_id}": {"GET": environments.list_reports},
    "/environments/{environment_id}/services": {
        "GET": environments.list_services,
        "POST": environments.add_service,
        "PUT": environments.set_services,
    },
    "/environments/{environment_id}/services/{path:*}": {
        "GET": environments.show_service,
        "DELETE": environments.remove_service,
    },
    "/environments/{environment_id}/sessions/{session_id}": {
        "GET": environments.show_session,
        "DELETE": environments.delete_session,
    },
    "/environments/{environment_id}/sessions/{session_id}/deploy": {"POST": environments.deploy},
    "/templates": {"GET": templates.index, "POST": templates.create},
    "/templates/{template_id}": {"GET": templates.show, "PUT": templates.rename, "DELETE": templates.delete},
    "/templates/{template_id}/create-environment": {"POST": templates.create_environment},
    "/templates/{template_id}/services": {"GET": templates.list_services, "POST": templates.add_service},
    "/templates/{template_id}/services/{service_id}": {"DELETE": templates.remove_service},
}
