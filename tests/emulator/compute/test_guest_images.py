"""Images of guests: building with a stand-in for mmdebstrap (the real one needs an archive of Debian), and deletion."""

from __future__ import annotations

import os
import re
import tarfile
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.guests import agents, building
from openstack_emulator.guests.ids import IdMaps
from openstack_emulator.guests.images import built_images, find_image
from openstack_emulator.guests.local import LocalDriver
from openstack_emulator.guests.namespace import Namespaces
from openstack_emulator.guests.namespace_process import find_tools

MMDEBSTRAP = """#!/bin/sh
printf '%s\\n' "$@" >"$(dirname "$0")/arguments"
echo "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" >>"$(dirname "$0")/arguments"
echo "I: running apt-get update..." >&2
[ -e "$(dirname "$0")/archive" ] || { echo "E: no such mirror" >&2; exit 1; }
for target; do
    case $target in *.tar) cp "$(dirname "$0")/archive" "$target" ;; esac
done
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the stand-in; the cache is empty, and the user has IDs for guests' users."""
    place = tmp_path / "bin"
    place.mkdir()
    place.joinpath("mmdebstrap").write_text(MMDEBSTRAP)
    place.joinpath("mmdebstrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin:/usr/sbin:/sbin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(agents, "_download", lambda directory: published(directory))
    return place


def published(directory: Path) -> Path:
    """A source distribution of heat-agents with a few empty files."""
    path = directory / "heat_agents.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("heat-config/bin/notify", "heat-config-puppet/install.d/hook-puppet.py", "setup.py"):
            archive.addfile(tarfile.TarInfo(f"heat_agents-13/{name}"))
    return path


def test_image_has_agent_files_at_expected_paths(tools: Path, tmp_path: Path) -> None:
    agents.pack(tmp_path / "agents.tar", 7)
    with tarfile.open(tmp_path / "agents.tar") as archive:
        modes = {entry.name: entry.mode for entry in archive}
        assert {entry.mtime for entry in archive} == {7}
    assert set(modes) == {*agents.WRITTEN, "usr/bin/notify", "var/lib/heat-config/hooks/puppet"}
    assert modes["var/lib/heat-config/hooks/puppet"] == 0o755


def archive(tools: Path, tmp_path: Path, name: str) -> None:
    """Have the next build result in a file system with a file of this name."""
    tree = tmp_path / f"tree-{name}"
    (tree / "etc").mkdir(parents=True)
    (tree / "etc" / name).write_text("content")
    with tarfile.open(tools / "archive", "w") as packed:
        packed.add(tree, ".")
        device = tarfile.TarInfo("./device")
        device.type = tarfile.CHRTYPE
        packed.addfile(device)


@pytest.mark.guests
def test_an_image_is_built_replaced_and_deleted_but_not_while_a_cloud_uses_it(tools: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    archive(tools, tmp_path, "first")
    try:
        find_tools()
        directory = building.build("debian", "http://mirror", ["git"], lines.append, ("agents", "puppet"))
    except (building.BuildFailed, GuestsUnavailable) as error:
        pytest.skip(str(error))
    arguments = (tools / "arguments").read_text()
    assert "--include=ca-certificates,cloud-init," in arguments
    assert ",git,heat-cfntools," in arguments
    assert ",puppet-agent," in arguments
    assert re.search(r"--customize-hook=tar-in .*/agents.tar /", arguments)
    assert 'rm -rf "$1"/var/log' not in arguments, "services need the directories of their logs"
    assert ",libnss-myhostname," in arguments, "sudo looks up the name of the host"
    assert "SOURCE_DATE_EPOCH=1704067200" in arguments
    assert lines[:2] == ["Downloading heat-agents.", "Running apt-get update...."]
    image = find_image("debian")
    assert [place.name for place in Path(image.layers[0][0], "etc").iterdir()] == ["first"]
    assert not Path(image.layers[0][0], "device").exists()
    [row] = built_images()
    assert row["features"] == ["agents", "puppet"]
    assert (row["name"], row["suite"], row["path"]) == ("debian", "bookworm", str(directory))

    archive(tools, tmp_path, "second")
    building.build("debian", features=())
    assert "tar-in" not in (tools / "arguments").read_text()
    assert [place.name for place in Path(image.layers[0][0], "etc").iterdir()] == ["second"]

    with pytest.raises(GuestsUnavailable, match=r"A guest cannot be started on this machine: .*'/bin/true'"):
        LocalDriver(Selection("namespace"), {"namespace": Namespaces(image)}, tmp_path / "guests")
    assert image.lock is not None
    with image.lock.open("a") as file, pytest.raises(building.BuildFailed, match="used by a cloud"):
        flock(file, LOCK_EX)
        building.delete("debian")
    building.delete("debian")
    assert not directory.exists()
    assert built_images() == []


def test_failed_image_builds_and_deletions_are_explained(
    tools: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(building, "id_maps", lambda: IdMaps(("0 0 65536",), ("0 0 65536",), False, 0))
    with pytest.raises(building.BuildFailed, match="E: no such mirror"):
        building.build("debian", features=())
    assert built_images() == []
    assert not list((tmp_path / "cache/stoker/guests").glob(".build-*"))
    for name in ("host", "fedora", "../debian"):
        with pytest.raises(building.BuildFailed, match="no guest image"):
            building.delete(name)
    monkeypatch.setattr(building, "id_maps", lambda: IdMaps(("0 1000 1",), ("0 1000 1",), False, 1000))
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with pytest.raises(GuestsUnavailable, match="needs subordinate IDs for this user"):
        building.build("debian", features=())
    (tools / "mmdebstrap").unlink()
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(GuestsUnavailable, match="apt-get install mmdebstrap"):
        building.build("debian", features=())
