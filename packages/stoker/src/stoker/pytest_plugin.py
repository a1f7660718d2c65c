"""Fixtures for pytest: a sandbox for each test that asks for one, in which templates are deployed in virtual time.

Their names begin with `stoker_`, so that they take no common name such as `cloud` from the fixtures of a project, nor
`openstack_cloud` from those of the emulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stoker.testing import CloudCalls, EmulatedCloud, Plan, Sandbox, Stack


@pytest.fixture
def stoker_sandbox() -> Iterator[Sandbox]:
    """An engine beside a new emulated cloud, in virtual time: see `stoker.testing.Sandbox`."""
    from stoker.testing import Sandbox  # the tests that use none do not import an engine

    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def stoker_cloud(stoker_sandbox: Sandbox) -> EmulatedCloud:
    """The emulated cloud of the sandbox: its flavors, images and networks, and its fault rules."""
    return stoker_sandbox.cloud


@pytest.fixture
def stoker_deploy(stoker_sandbox: Sandbox) -> Callable[..., Stack]:
    """Create or update a stack, and return it when it has ended: `stoker_deploy("web", "web.yaml", parameters={…})`."""
    return stoker_sandbox.deploy


@pytest.fixture
def stoker_plan(stoker_sandbox: Sandbox) -> Callable[..., Plan]:
    """Return the plan of a deployment, which is not carried out; the arguments are those of `stoker_deploy`."""
    return stoker_sandbox.plan


@pytest.fixture
def stoker_calls(stoker_sandbox: Sandbox) -> CloudCalls:
    """The requests that the cloud of the sandbox has received, as it received them."""
    return stoker_sandbox.calls
