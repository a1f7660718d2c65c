"""What the two processes of `stoker up` import before they serve: little of it depends on the size of the program."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ENGINE = """
import sys
import stoker.processes.embedded
from stoker.plugins.registry import Registry
from stoker.store import schema
Registry.from_entry_points()
schema.head()
print(*sys.modules)
"""
CLOUD = """
import sys
import openstack_emulator.main
from openstack_emulator.services import new_cloud
new_cloud().service_named("keystone")
print(*sys.modules)
"""


SUPERVISOR = """
import sys
import stoker.processes.supervisor
print(*sys.modules)
"""


def modules(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def among(found: list[str], *packages: str) -> list[str]:
    return [name for name in found if any(f"{name}.".startswith(f"{package}.") for package in packages)]


def test_an_embedded_engine_imports_neither_a_broker_nor_what_upgrades_tables() -> None:
    found = modules(ENGINE)
    assert "stoker.engine.core" in found
    assert among(found, "alembic", "mako", "oslo_messaging", "eventlet", "yaql", "croniter", "openstack_emulator") == []
    assert among(found, "sqlalchemy.dialects.mysql", "sqlalchemy.dialects.postgresql") == []
    tracing = among(found, "opentelemetry")  # by oslo.middleware, if another package has brought it along
    ours = among(found, "stoker", "stoker_foundation")
    assert len(ours) < 540
    assert len(among(found, "stoker.resources")) < 45  # a resource type is imported when a template uses it
    assert len(found) - len(tracing) - len(ours) < 1100


def test_the_emulated_cloud_imports_identity_only() -> None:
    found = modules(CLOUD)
    packages = {name.split(".")[1] for name in found if name.startswith("openstack_emulator.")}
    assert packages <= {"core", "identity", "services", "main", "name_server", "guests"}
    drivers = ("openstack_emulator.guests.namespace", "openstack_emulator.guests.machine")
    assert (
        among(found, *drivers, "openstack_emulator.dns", "dns", "sqlalchemy", "keystoneauth1", "yaql", "jinja2") == []
    )
    assert len(found) < 600


def test_the_supervisor_imports_no_libraries() -> None:
    """`stoker up --detach` waits for it."""
    found = modules(SUPERVISOR)
    assert among(found, "http", "email", "ssl", "asyncio", "yaml", "sqlalchemy", "oslo_config", "click") == []
    assert len(found) < 145
