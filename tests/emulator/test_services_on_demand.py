"""Services that are imported when something needs them, and clouds with some services only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from openstack_emulator.core.cloud import LazyService
from openstack_emulator.main import main
from openstack_emulator.services import CHOICES, SERVICES, chosen, new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import ManualClock

TOKEN_ONLY = """
import sys
from openstack_emulator.services import new_cloud
cloud = new_cloud()
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("openstack_emulator.")}))
cloud.service_named("nova")
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("openstack_emulator.")}))
"""


def catalog(served: ServedCloud) -> set[str]:
    """The types of the services that a token's catalog lists."""
    token = served.token()
    answer = served.call("GET", "/identity/v3/auth/catalog", token=token)
    return {entry["type"] for entry in answer.json["catalog"]}


@pytest.mark.slow
def test_a_new_cloud_imports_identity_only() -> None:
    lines = subprocess.run(
        [sys.executable, "-c", TOKEN_ONLY], check=True, capture_output=True, text=True
    ).stdout.splitlines()

    assert not {"compute", "volume", "network", "image", "objectstore", "messaging", "placement"} & set(
        lines[0].split()
    )
    assert {"compute", "volume", "network", "image"} <= set(lines[1].split())


def test_a_service_is_opened_by_its_first_request_and_is_in_the_catalog_before() -> None:
    with ServedCloud(new_cloud(clock=ManualClock())) as served:
        assert {"compute", "network", "image", "volumev3", "object-store", "messaging"} <= catalog(served)
        assert served.cloud.store.tables.get(("nova", "flavors")) is None

        flavors = served.call("GET", "/compute/v2.1/flavors", token=served.token()).json["flavors"]

        assert "m1.small" in [flavor["name"] for flavor in flavors]
        assert served.cloud.store.tables.get(("swift", "containers")) is None


def test_objects_of_unopened_services_are_counted() -> None:
    with ServedCloud(new_cloud(clock=ManualClock())) as served:
        before = served.call("GET", "/control/objects").json["objects"]
        served.call("GET", "/network/v2.0/networks", token=served.token())

        assert served.call("GET", "/control/objects").json["objects"] == before
        assert before["neutron"]["networks"]["count"] == 2


def test_a_pending_state_change_opens_its_service_after_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "cloud.db"
    with ServedCloud(new_cloud(clock=ManualClock(), state_path=state)) as served:
        made = served.call("POST", "/volume/v3/volumes", {"volume": {"size": 1}}, served.token())
        assert made.json["volume"]["status"] == "creating"

    with ServedCloud(new_cloud(clock=ManualClock(), state_path=state)) as served:
        served.advance(1.0)
        volumes = served.do(lambda: served.cloud.table_of("cinder", "volumes"))
        assert volumes is not None
        assert [row.status for row in volumes] == ["available"]


def test_volume_in_use_is_kept_before_compute_is_opened(tmp_path: Path) -> None:
    cloud = new_cloud(clock=ManualClock())

    assert cloud.table_of("nova", "block_devices") is not None
    assert new_cloud(("image", "volume"), clock=ManualClock()).table_of("nova", "block_devices") is None


def test_a_cloud_with_some_services_has_no_others_and_its_catalog_follows(tmp_path: Path) -> None:
    state = tmp_path / "cloud.db"
    with ServedCloud(new_cloud(("network", "image"), clock=ManualClock(), state_path=state)) as served:
        assert catalog(served) == {"identity", "network", "image"}
        assert served.call("GET", "/network/v2.0/networks", token=served.token()).status == 200
        assert served.call("GET", "/compute/v2.1/servers", token=served.token()).status == 404
    with ServedCloud(new_cloud(clock=ManualClock(), state_path=state)) as served:
        assert {"identity", "network", "image", "compute", "volumev3"} <= catalog(served)
    with ServedCloud(new_cloud(("messaging",), clock=ManualClock(), state_path=state)) as served:
        assert catalog(served) == {"identity", "messaging"}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("network", "nova"), "no service 'nova' to choose: the choices are image, network, messaging"),
        (("compute", "image"), "The service compute needs network and volume, which must be chosen too"),
    ],
)
def test_an_unusable_choice_is_refused(
    names: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=message):
        chosen(names)
    with pytest.raises(SystemExit):
        main(["up", "--services", ",".join(names)])
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_entries_in_the_list_equal_their_services(service: LazyService) -> None:
    assert service.load().name == service.name


def test_a_service_unlike_its_entry_is_an_error() -> None:
    place = "openstack_emulator.compute.service:COMPUTE"
    wrong = LazyService("nova", "/compute", {"compute": "/elsewhere"}, place, "compute")

    with pytest.raises(ValueError, match="other endpoints than its entry"):
        wrong.load()


def test_all_services_are_chosen_by_default() -> None:
    assert chosen(CHOICES) == SERVICES
