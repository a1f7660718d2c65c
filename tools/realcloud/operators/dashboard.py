"""The walk of `conformance.tour` over the stack pages of a real Horizon, which uses the lab and the installation."""

from __future__ import annotations

from collections.abc import Iterator

from tools.conformance.horizon import served
from tools.conformance.installed import HERE, installed
from tools.conformance.pages import Visitor
from tools.conformance.tour import Tour
from tools.realcloud.engine import Stacks
from tools.realcloud.operators.base import networked
from tools.realcloud.operators.place import Place
from tools.realcloud.operators.rows import FAILED, PASSED, Row
from tools.realcloud.operators.tempest import cloud


def rows(place: Place) -> Iterator[Row]:
    """Walk over the pages as the user operator-horizon."""
    home = place.home / "horizon"
    home.mkdir(exist_ok=True)
    user = place.lab.accounts["operator-horizon"]
    with networked(Stacks(user)), served(installed("horizon"), cloud(place), home) as site:
        tour = Tour(Visitor(site), user.auth["username"], user.auth["password"], HERE / "horizon")
        for result in tour.results():
            yield Row(result.test, PASSED if result.status == "success" else FAILED, result.reason)
