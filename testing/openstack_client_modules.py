"""A module to import for what it imports: OpenStack's client, with what all of its commands import.

Importing it also has the client read the installed packages, which it does but once in a process.
"""

from __future__ import annotations

import contextlib
import io
import logging
from importlib import import_module

from openstackclient.shell import OpenStackShell

MODULES = ("heatclient.osc.v1.stack", "openstack.connection", "openstackclient.network.v2.network")
"""What many commands import."""

for _name in MODULES:
    import_module(_name)
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    OpenStackShell().run(["command", "list"])
logging.getLogger().handlers.clear()  # of the client's shell, which write to streams that are gone
