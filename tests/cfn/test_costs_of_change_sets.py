"""What a change set costs, by boto3, with a price list of the operator."""

from __future__ import annotations

import json
from pathlib import Path

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.price_list import PriceList
from stoker_foundation.clock import SystemClock
from tests.cfn.query_service import QueryService
from tests.cfn.test_change_sets import FAST, propose

PRICES = "currency: EUR\nhours_per_month: 100\nprices: {volume: {default: 0.01}}\n"


def volume(size: int) -> str:
    data = {"Type": "OS::Cinder::Volume", "Properties": {"size": size}}
    return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"Data": data}})


def test_change_set_has_stack_costs(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES, encoding="utf-8")
    prices = PriceList.read(str(path))
    with (
        ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served,
        QueryService(tmp_path, served, prices) as world,
    ):
        boto = world.client(world.keys())
        made = propose(boto, "first", "CREATE", volume(10))
        output = boto.describe_change_set(ChangeSetName=made["Id"])["StatusReason"]
        assert output == "Costs per month: 10.00 EUR, 10.00 EUR more than now."
        boto.execute_change_set(ChangeSetName=made["Id"])
        boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig={**FAST, "MaxAttempts": 400})
        larger = propose(boto, "larger", "UPDATE", volume(30))
        output = boto.describe_change_set(ChangeSetName=larger["Id"])["StatusReason"]
        assert output == "Costs per month: 30.00 EUR, 20.00 EUR more than now."
        empty = propose(boto, "empty", "UPDATE", volume(10))
        assert "didn't contain changes" in boto.describe_change_set(ChangeSetName=empty["Id"])["StatusReason"]
