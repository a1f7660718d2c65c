"""Orders over HTTP."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.keymanager.records import Order
from openstack_emulator.keymanager.routes.bodies import created_response, key_of, list_response, object_of
from openstack_emulator.keymanager.rules.composition import KeyManager
from openstack_emulator.keymanager.rules.guarded import READERS, WRITERS, project_for
from openstack_emulator.keymanager.rules.inputs import NewOrder
from openstack_emulator.keymanager.views import order_view


def create(manager: KeyManager, request: Request) -> Response:
    body = object_of(request)
    project_id = project_for(request.context, WRITERS, "Order creation")
    new = NewOrder.from_json(body, manager.now())
    return created_response(request, "orders", manager.orders.create(request.context, project_id, new).id, 202)


def index(manager: KeyManager, request: Request) -> Response:
    project_id = project_for(request.context, READERS, "Orders retrieval")
    return list_response(request, "orders", manager.orders.rows.select(project_id=project_id), order_view)


def show(manager: KeyManager, request: Request) -> Response:
    return Response(order_view(request.base, _order(manager, request, READERS, "retrieval")))


def delete(manager: KeyManager, request: Request) -> Response:
    manager.orders.rows.remove(_order(manager, request, WRITERS, "deletion"))
    return Response(status=204)


def _order(manager: KeyManager, request: Request, roles: tuple[str, ...], what: str) -> Order:
    """The order in the URL. Raises ApiError 404 for those of other projects."""
    order = manager.orders.rows.require(key_of(request))
    if order.project_id != request.context.project:
        raise manager.orders.rows.missing(order.id)
    project_for(request.context, roles, f"Order {what}")
    return order
