"""An OpenStack cloud in one process: identity, compute, network and the rest, in memory or in a file.

`core` knows no service; each service is a folder (records with their rules, then thin routes); `services` lists them;
`main` runs a cloud on a port; `testing` serves one to tests, and `pytest_plugin` gives them the fixture
`openstack_cloud`.
"""

__version__ = "0.2.0.dev0"
