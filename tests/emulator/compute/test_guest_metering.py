"""Measures of guests: the metric service has their processor time, and alarms follow it."""

from __future__ import annotations

import pytest

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.metering import utilization
from openstack_emulator.core.guests.driver import ProcessorTime
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import ManualClock

from .conftest import Nova
from .guest_cloud import guest_cloud
from .test_guests import Recorder

BUSY = "(end=$(($(date +%s) + 4)); while [ $(date +%s) -lt $end ]; do :; done; echo IDLE AGAIN) &"


class Metered(Recorder):
    """A driver whose guests have used a given processor time."""

    metering_interval = 3600.0

    def __init__(self) -> None:
        super().__init__()
        self.used: dict[str, float] = {}

    def processor_time(self, guest_id: str) -> ProcessorTime | None:
        return ProcessorTime(self.used[guest_id]) if guest_id in self.used else None


def measures(nova: Nova, key: str, metric: str, method: str = "mean") -> list[float]:
    path = f"/metric/v1/resource/instance/{key}/metric/{metric}/measures?granularity=1&aggregation={method}"
    return [value for _, _, value in nova.other("GET", path).json]


def test_processor_time_is_measured_and_related_to_the_processors_of_the_flavor() -> None:
    driver, clock = Metered(), ManualClock()
    with ServedCloud(new_cloud(clock=clock, guests=driver)) as served:
        nova = Nova(served)
        key, off = nova.boot(flavorRef="3"), nova.boot()
        meter = served.do(lambda: served.cloud.of(ComputeService).reports.metering)
        for used in (2.0, 22.0, 5.0, 6.0):  # it was restarted before the third measure
            driver.used = {key: used}
            served.do(meter.measure)
            nova.wait(10)
        assert measures(nova, key, "cpu") == [2e9, 22e9, 5e9, 6e9]
        [busy, idle] = measures(nova, key, "cpu_util")
        assert nova.call("GET", "/flavors/3").json["flavor"]["vcpus"] == 2
        assert busy == pytest.approx(100, abs=10)
        assert idle == pytest.approx(5, abs=1)
        assert measures(nova, off, "cpu") == []


@pytest.mark.parametrize(
    ("used", "withheld", "expected"),
    [
        (0.7, 9.3, 100),  # busy, and others had the processor
        (0.7, 0.0, 7),
        (0.5, 0.5, 5 / 0.95),
        (10.0, 30.0, 100),  # its processes waited for each other
        (10.5, 0.0, 105),
        (0.0, 20.0, 100),  # it was not given anything
        (0.0, 0.0, 0),
        (0.5, -1.0, 5),  # the process that waited has ended
    ],
)
def test_steal_time_is_not_counted_as_idle(used: float, withheld: float, expected: float) -> None:
    before, now = ProcessorTime(5.0, 50.0), ProcessorTime(5.0 + used, 50.0 + withheld)
    assert utilization(before, now, 10.0) == pytest.approx(expected)


@pytest.mark.guests
def test_alarm_follows_guest_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openstack_emulator.guests.local.LocalDriver.metering_interval", 0.5)
    with guest_cloud() as nova:
        key = nova.script(BUSY)
        rule = {
            "resource_type": "instance",
            "resource_id": key,
            "metric": "cpu_util",
            "aggregation_method": "mean",
            "granularity": 1,
            "evaluation_periods": 1,
            "comparison_operator": "gt",
            "threshold": 20.0,
        }
        body = {"name": "busy", "type": "gnocchi_resources_threshold", "gnocchi_resources_threshold_rule": rule}
        alarm = nova.other("POST", "/alarming/v2/alarms", body).json["alarm_id"]

        def state() -> str:
            nova.other("POST", "/control/evaluations", {})
            return str(nova.other("GET", f"/alarming/v2/alarms/{alarm}").json["state"])

        nova.until(lambda: state() == "alarm")
        nova.until(lambda: "IDLE AGAIN" in nova.console(key))
        nova.until(lambda: state() == "ok")
