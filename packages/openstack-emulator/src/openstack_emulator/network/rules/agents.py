"""Agents on the hosts of the cloud, and what they serve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid5

from openstack_emulator.core.errors import conflict, not_found
from openstack_emulator.core.store import Table
from openstack_emulator.network.records.core import Agent, Network, Router
from openstack_emulator.network.rules.errors import disallowed, missing
from openstack_emulator.network.rules.kinds.kind import Actor
from openstack_emulator.network.rules.resources import State

SPACE = UUID("6f0c3c1e-9d0a-4f4e-8f0e-5f2b8d1c7a10")
HOSTS = ("compute-1", "network-1", "network-2")
TIME = "%Y-%m-%d %H:%M:%S"
TYPES: Mapping[str, tuple[str, tuple[str, ...], str | None]] = {
    "DHCP agent": ("neutron-dhcp-agent", ("network-1", "network-2"), "nova"),
    "L3 agent": ("neutron-l3-agent", ("network-1", "network-2"), "nova"),
    "Metadata agent": ("neutron-metadata-agent", ("network-1",), None),
    "Open vSwitch agent": ("neutron-openvswitch-agent", HOSTS, None),
}
"""Agent type → binary, hosts, availability zone."""
AGENT_TYPES = {"networks": "DHCP agent", "routers": "L3 agent"}
HOSTED = {"networks": "NetworkHostedByDHCPAgent", "routers": "RouterHostedByL3Agent"}
NOT_HOSTED = {"networks": "NetworkNotHostedByDhcpAgent", "routers": "RouterNotHostedByL3Agent"}


class Agents:
    """Agents are always alive. Networks and routers go to the first agent unless somebody moves them.

    One that has been moved has the IDs of its agents.
    """

    def __init__(self, state: State, rows: Table[Agent]) -> None:
        self._state = state
        self.rows = rows

    def seed(self) -> None:
        """One agent of each type on each of its hosts; ids are the same in every cloud."""
        started = self._state.records.timestamp(TIME)
        for kind, (binary, hosts, zone) in TYPES.items():
            for host in hosts:
                self.rows.add(
                    Agent(
                        id=str(uuid5(SPACE, f"{binary}@{host}")),
                        agent_type=kind,
                        binary=binary,
                        host=host,
                        topic="N/A",
                        availability_zone=zone,
                        admin_state_up=True,
                        alive=True,
                        description=None,
                        configurations={},
                        resources_synced=None,
                        created_at=started,
                        started_at=started,
                    )
                )

    def update(self, actor: Actor, key: str, changes: Mapping[str, Any]) -> Agent:
        """Change `admin_state_up` or `description`."""
        agent = self.reach(actor, key, "update_agent")
        allowed = {name: value for name, value in changes.items() if name in ("admin_state_up", "description")}
        return self.rows.update(agent, **allowed)

    def reach(self, actor: Actor, key: str, rule: str) -> Agent:
        """The agent. Raises: 403 for all but admins, 404."""
        if not actor.admin:
            raise disallowed(rule)
        if (agent := self.rows.get(key)) is None:
            raise missing("Agent", "Agent", key)
        return agent

    def hosting(self, actor: Actor, plural: str, key: str) -> list[Agent]:
        """The agents that serve a network (DHCP) or a router (L3)."""
        if not actor.admin:
            raise disallowed("get_dhcp-agents" if plural == "networks" else "get_l3-agents")
        record = self._state.of(plural).reach(actor, key)
        return [agent for agent_id in self._agents_of(plural, record) if (agent := self.rows.get(agent_id))]

    def hosted_by(self, actor: Actor, plural: str, agent_id: str) -> list[Network | Router]:
        """The networks or routers that an agent serves."""
        self.reach(actor, agent_id, "get_agent")
        rows = self._state.of(plural).rows
        return [row for row in rows if agent_id in self._agents_of(plural, row)]

    def host(self, actor: Actor, plural: str, agent_id: str, key: str) -> None:
        """Let an agent serve a network or router too. Raises: 409 when it does already."""
        self._of_type(actor, plural, agent_id)
        record = self._state.of(plural).reach(actor, key)
        agents = self._agents_of(plural, record)
        if agent_id in agents:
            raise conflict(f"The {plural[:-1]} {key} has been already hosted by the agent {agent_id}.", HOSTED[plural])
        self._state.of(plural).rows.update(record, agents=[*agents, agent_id])

    def remove_hosted(self, actor: Actor, plural: str, agent_id: str, key: str) -> None:
        """Remove a network or router from an agent. Raises: 409 when it does not serve it."""
        self._of_type(actor, plural, agent_id)
        record = self._state.of(plural).reach(actor, key)
        agents = self._agents_of(plural, record)
        if agent_id not in agents:
            raise conflict(f"The {plural[:-1]} {key} is not hosted by the agent {agent_id}.", NOT_HOSTED[plural])
        self._state.of(plural).rows.update(record, agents=[other for other in agents if other != agent_id])

    def _of_type(self, actor: Actor, plural: str, agent_id: str) -> None:
        agent = self.reach(actor, agent_id, "update_agent")
        if agent.agent_type != AGENT_TYPES[plural]:
            raise not_found(f"Agent {agent_id} is not a {AGENT_TYPES[plural]} or has been disabled", "InvalidAgent")

    def _agents_of(self, plural: str, record: Network | Router) -> list[str]:
        if record.agents is not None:
            return list(record.agents)
        if plural == "networks":
            subnets = self._state.rows.subnets.select(network_id=record.id, enable_dhcp=True)
            if not subnets:
                return []
        first = self.rows.first(agent_type=AGENT_TYPES[plural])
        return [] if first is None else [first.id]
