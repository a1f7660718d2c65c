"""The place of `NeutronResource` before 2015."""

from heat.engine.resources.openstack.neutron.neutron import NeutronResource

__all__ = ["NeutronResource"]
