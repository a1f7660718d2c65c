"""heat-tempest-plugin on the installation, with the machinery and the description of `conformance`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml

from tools.conformance.installed import installed
from tools.conformance.place import Place as Cloud
from tools.conformance.suite import Suite, run
from tools.realcloud.engine import Stacks
from tools.realcloud.lab import Account
from tools.realcloud.operators.base import networked
from tools.realcloud.operators.place import Place
from tools.realcloud.operators.rows import ABSENT, FAILED, PASSED, Row

WORKERS = 2
_STATUS = {"success": PASSED, "skip": ABSENT}


def rows(place: Place) -> Iterator[Row]:
    """Run the suite as the user operator-tempest."""
    home = place.home / "tempest"
    home.mkdir(exist_ok=True)
    user = place.lab.accounts["operator-tempest"]
    suite = adapted(Suite.read("heat"), place, user)
    with networked(Stacks(user)):
        for result in run(suite, installed("suites/heat"), cloud(place), home, list(suite.parts), WORKERS):
            name = result.test.split("[")[0].removeprefix("heat_tempest_plugin.tests.")
            yield Row(name, _STATUS.get(result.status, FAILED), result.reason)
    _delete_queues(user)


def _delete_queues(user: Account) -> None:
    """Delete the queue of the suite's test of event sinks, which does not delete it."""
    for queue in user.ask("messaging", "GET", "/v2/queues")["queues"]:
        user.send("messaging", "DELETE", f"/v2/queues/{queue['name']}")


def cloud(place: Place) -> Cloud:
    """Return the lab as `conformance` knows a cloud."""
    administrator = place.lab.accounts["operator-admin"]
    clouds = place.home / "conformance.yaml"
    entry = {"auth": administrator.auth, "region_name": administrator.region, "identity_api_version": 3}
    clouds.write_text(yaml.safe_dump({"clouds": {"stoker-admin": entry}}), encoding="utf-8")
    return Cloud(administrator.auth["auth_url"], clouds, "")


def adapted(suite: Suite, place: Place, user: Account) -> Suite:
    """Return the suite with the users and flavors of the lab."""
    administrator = place.lab.accounts["operator-admin"].auth
    own: dict[str, dict[str, Any]] = {
        "auth": {
            "admin_username": administrator["username"],
            "admin_password": administrator["password"],
            "admin_project_name": administrator["project_name"],
        },
        "compute": {"flavor_ref": place.lab.ids["m1.small"], "flavor_ref_alt": place.lab.ids["m1.micro"]},
        "heat_plugin": {
            "username": user.auth["username"],
            "password": user.auth["password"],
            "project_name": user.auth["project_name"],
            "admin_username": administrator["username"],
            "admin_password": administrator["password"],
            "admin_project_name": administrator["project_name"],
        },
    }
    sections = suite.configuration.keys() | own.keys()
    configuration = {name: {**suite.configuration.get(name, {}), **own.get(name, {})} for name in sections}
    reasons = [replace(one, reason=one.reason.replace("the emulator's", "the lab's")) for one in suite.cannot_run]
    return replace(suite, configuration=configuration, cannot_run=reasons)
