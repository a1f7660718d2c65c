"""Import what configurations of others make, each on an emulated cloud of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.terraform.proving import Place, Proof
from tools.conformance.terraform.expressions import NotKnown
from tools.conformance.terraform.presumed import AssumedObjects
from tools.conformance.terraform.reading import read_configuration


def proofs(corpus: Path, only: str) -> Iterator[tuple[Proof, dict[str, str]]]:
    """Yield what happens to each directory of a corpus, and why what is without an equivalent has none."""
    for directory in sorted(each for each in corpus.iterdir() if any(each.glob("*.tf"))):
        if only in directory.name:
            try:
                yield _proof(directory)
            except (NotKnown, AssertionError, KeyError) as error:
                reason = f"it cannot be made: {type(error).__name__}: {str(error)[-300:]}"
                yield Proof(directory.name, 0, 0, (reason,)), {}


def _proof(directory: Path) -> tuple[Proof, dict[str, str]]:
    read = read_configuration(directory)
    with (
        tempfile.TemporaryDirectory() as place_for_data,
        ServedCloud(new_cloud(clock=SystemClock(), pace=0.0)) as served,
    ):
        configuration = AssumedObjects(served, read).configuration(read)
        place = Place(Path(place_for_data), served)
        try:
            state = place.state(configuration)
            found = place.imported(state)
            unsupported = {
                address: reason
                for address, reason in found.unsupported.items()
                if address in configuration["unsupported"]
            }
            hidden = dict.fromkeys(found.without_value, "terraform-user-secret")
            return place.import_state({**configuration, "hidden": hidden}, state), unsupported
        finally:
            place.stop()
