"""The fixture that the emulator's distribution gives to the tests of other projects, used as its README shows."""

from __future__ import annotations

import re
from pathlib import Path

import openstack
import pytest

from openstack_emulator.testing import ServedCloud

pytestmark = [
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning"),
]

README = Path(__file__).parents[2] / "packages" / "openstack-emulator" / "README.md"


def test_the_example_of_the_readme_passes(openstack_cloud: ServedCloud) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)
    test = names["test_a_server_becomes_active"]
    assert callable(test)
    test(openstack_cloud)


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_has_a_cloud_of_its_own(openstack_cloud: ServedCloud, turn: int) -> None:
    login = {"username": "demo", "password": openstack_cloud.password_of("demo"), "project_name": "demo"}
    domains = {"user_domain_id": "default", "project_domain_id": "default"}
    with openstack.connect(auth={"auth_url": f"{openstack_cloud.url}/identity/v3", **login, **domains}) as cloud:
        assert [each.name for each in cloud.network.networks(name="shop")] == []
        cloud.network.create_network(name="shop")
