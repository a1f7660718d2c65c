"""The process that holds the networks of guests, and orders that fail."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.guests import namespace_process
from openstack_emulator.guests.guest_endpoints import GuestEndpoints
from openstack_emulator.guests.ids import id_maps
from openstack_emulator.guests.launch.connecting import OWN
from openstack_emulator.guests.namespace_process import NamespaceProcess, NetworkFailed
from openstack_emulator.guests.network_reconciler import NetworkReconciler
from openstack_emulator.guests.spaces import plan_port
from openstack_emulator.services import new_cloud

pytestmark = pytest.mark.guests


@pytest.fixture
def held(tmp_path: Path) -> Iterator[NamespaceProcess]:
    try:
        made = NamespaceProcess(id_maps(), tmp_path)
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    with closing(made):
        yield made


def order(held: NamespaceProcess, do: str, name: str, **arguments: object) -> list[int]:
    return asyncio.run(held.order(do, name, **arguments))


def test_order_for_ended_guest_is_refused(held: NamespaceProcess) -> None:
    for do, more in (("attach", {"volume": "volume-1", "layers": []}), ("detach", {})):
        with pytest.raises(NetworkFailed, match=r"volume-1|guest-gone does not run"):
            order(held, do, "guest-gone", device="/dev/vdb", **more)
        assert order(held, "make", f"network-{do}") == []
    with pytest.raises(NetworkFailed, match="network-gone"):
        order(held, "drop", "network-gone")


def test_late_answer_is_not_matched_to_next_order(held: NamespaceProcess) -> None:
    order(held, "make", "network-1")
    process = held._process.pid
    os.kill(process, signal.SIGSTOP)
    held._control.settimeout(0.05)
    try:
        with pytest.raises(NetworkFailed, match="timed out"):
            order(held, "open", "network-1", kind=1, bound=None, listen=False)
    finally:
        os.kill(process, signal.SIGCONT)
        held._control.settimeout(namespace_process.ORDER_SECONDS)
    assert order(held, "write", "network-1", files={"ipv4/ip_forward": "1"}) == []
    assert len(order(held, "open", "network-1", kind=1, bound=None, listen=False)) == 1


def test_a_guest_whose_filter_is_refused_leaves_no_namespace(held: NamespaceProcess) -> None:
    namespaces = [os.open(path, os.O_RDONLY) for path in OWN]
    network_reconciler = NetworkReconciler(held, GuestEndpoints(new_cloud(), lambda guest_id, reason: None), plan_port)

    async def join() -> None:
        try:
            await network_reconciler.join("1", namespaces, "this is no filter", {})
        finally:
            await network_reconciler.leave("1")

    try:
        with pytest.raises(NetworkFailed, match=r"nft in guest-1|cannot be joined"):
            asyncio.run(join())
    finally:
        for namespace in namespaces:
            os.close(namespace)
    with pytest.raises(NetworkFailed, match="guest-1"):
        order(held, "drop", "guest-1")
