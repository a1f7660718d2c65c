"""The place of `heat.engine.resources.openstack.neutron` before 2015."""
