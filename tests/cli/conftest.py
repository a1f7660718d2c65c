from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.cli_shell import ANY_PORTS, Shell, shell_in
from tests.cli.guest_shell import shell_with_guests


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A user without a Stoker; what is started is stopped in the end."""
    user = shell_in(tmp_path)
    yield user
    user.stoker("down")


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A user with a running Stoker, in whose emulated cloud state changes take a tenth of the time."""
    user = shell_in(tmp_path_factory.mktemp("embedded"))
    user.ok("up", "--detach", "--pace", "0.1", *ANY_PORTS)
    yield user
    user.ok("down")


@pytest.fixture(scope="session")
def guests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A user with a running Stoker whose emulated cloud has guests; the tests of the group `guests` share it."""
    yield from shell_with_guests(tmp_path_factory.mktemp("guests"))
