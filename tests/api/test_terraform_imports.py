"""States of Terraform are imported as stacks without a write, over HTTP; the conformance program tries all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.terraform.applying import configurations
from testing.terraform.proving import Place

TITLES = (
    "Security groups that refer to each other",
    "A web server behind a floating IP",
    "A server by its network, with a volume",
    "A module in a module, by key",
    "Modules that refer to each other, and are referred to",
    "Modules one of which cannot be apart",
    "A load balancer with all members at once, and rules",
    "A site connection with a shared key",
    "A project with its users",
    "Security groups and addresses of Nova",
    "A server whose disk is copied from an image",
    "Objects of other providers, and routes",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    directory: Path = tmp_path_factory.mktemp("terraform")
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.0)) as served:
        place = Place(directory, served)
        yield place
        place.stop()


@pytest.mark.parametrize("title", TITLES)
def test_a_state_is_imported_without_a_write(place: Place, title: str) -> None:
    [configuration] = [each for each in configurations() if each["title"] == title]
    proof = place.import_configuration(configuration)
    assert not proof.problems
    assert proof.resources
