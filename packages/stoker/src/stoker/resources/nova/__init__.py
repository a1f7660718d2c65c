"""Nova: servers, flavors, keypairs and server groups."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Heat::DeployedServer": "deployed_server:DeployedServer",
        "OS::Nova::HostAggregate": "host_aggregate:HostAggregate",
        "OS::Nova::Quota": "quota:Quota",
        "OS::Nova::Flavor": "flavor:Flavor",
        "OS::Nova::FloatingIP": "floating_ip:FloatingIP",
        "OS::Nova::FloatingIPAssociation": "floating_ip_association:FloatingIPAssociation",
        "OS::Nova::KeyPair": "key_pair:KeyPair",
        "OS::Nova::Server": "server.server:Server",
        "OS::Nova::ServerGroup": "server_group:ServerGroup",
    },
)
