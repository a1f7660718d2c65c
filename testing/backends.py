"""The kinds of databases that tests run on. Tests on a server are a group of that server, which one process starts."""

from __future__ import annotations

import pytest


def marks_of(server: str) -> list[pytest.MarkDecorator]:
    """Return the marks of tests on a server; its name is that of a fixture."""
    return [pytest.mark.slow, pytest.mark.xdist_group(server)]


SERVERS = [pytest.param(name, marks=marks_of(name)) for name in ("postgresql", "mariadb")]
BACKENDS = ["sqlite", *SERVERS]
