"""Handlers of agents, and of what they serve."""

from __future__ import annotations

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.network.routes.endpoints import actor_of
from openstack_emulator.network.routes.lists import listed_views
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.views.api import agent_view, view


def list_agents(network: NetworkService, request: Request) -> Response:
    if not actor_of(request).admin:
        return Response({"agents": []})
    return listed_views("agents", [agent_view(network.state, agent) for agent in network.agents.rows], request)


def show_agent(network: NetworkService, request: Request) -> Response:
    agent = network.agents.reach(actor_of(request), request.vars["id"], "get_agent")
    return Response({"agent": agent_view(network.state, agent)})


def update_agent(network: NetworkService, request: Request) -> Response:
    agent = network.agents.update(actor_of(request), request.vars["id"], request.object("agent"))
    return Response({"agent": agent_view(network.state, agent)})


def hosting(plural: str) -> Handler:
    def handler(network: NetworkService, request: Request) -> Response:
        agents = network.agents.hosting(actor_of(request), plural, request.vars["id"])
        return Response({"agents": [agent_view(network.state, agent) for agent in agents]})

    return handler


def hosted(plural: str) -> Handler:
    def handler(network: NetworkService, request: Request) -> Response:
        actor = actor_of(request)
        found = network.agents.hosted_by(actor, plural, request.vars["id"])
        return Response({plural: [view(network.state, actor, record) for record in found]})

    return handler


def host(plural: str, key: str) -> Handler:
    def handler(network: NetworkService, request: Request) -> Response:
        body = request.json
        hosted = body.get(key) if isinstance(body, dict) else None
        if not isinstance(hosted, str):
            raise bad_request(f"Failed to parse request. Required attribute '{key}' not specified")
        network.agents.host(actor_of(request), plural, request.vars["id"], hosted)
        return Response(status=201)

    return handler


def remove_hosted(plural: str) -> Handler:
    def handler(network: NetworkService, request: Request) -> Response:
        network.agents.remove_hosted(actor_of(request), plural, request.vars["id"], request.vars["hosted_id"])
        return Response(status=204)

    return handler
