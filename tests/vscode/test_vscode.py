"""The extension for VS Code: its archive, and a walk through its features with a real language server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from contrib.vscode.pack import FOLDER, pack
from stoker import __version__

WALK = Path(__file__).parent / "walk.js"
_SPACE = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"


def test_the_archive_has_the_layout_of_extensions(tmp_path: Path) -> None:
    pack(tmp_path / "a.vsix")
    pack(tmp_path / "b.vsix")
    assert (tmp_path / "a.vsix").read_bytes() == (tmp_path / "b.vsix").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.vsix") as archive:
        names = set(archive.namelist())
        package = json.loads(archive.read("extension/package.json"))
        manifest = ElementTree.fromstring(archive.read("extension.vsixmanifest"))
        types = ElementTree.fromstring(archive.read("[Content_Types].xml"))
        settings = [archive.read(name) for name in names if name.endswith(".json")]
    identity = manifest.find(f"{_SPACE}Metadata/{_SPACE}Identity")
    assert identity is not None
    assert identity.attrib["Version"] == package["version"] == __version__.partition(".dev")[0]
    assert {asset.attrib["Path"] for asset in manifest.iter(f"{_SPACE}Asset")} <= names
    assert {f".{name.rpartition('.')[2]}" for name in names if not name.startswith("[")} <= {
        kind.attrib["Extension"] for kind in types
    }
    assert all(json.loads(text) for text in settings)
    contributes = package["contributes"]
    named = [package["main"], *(each["path"] for each in contributes["grammars"])]
    named += [each["configuration"] for each in contributes["languages"]]
    assert {f"extension/{name.removeprefix('./')}" for name in named} <= names


def test_the_extension_needs_no_other_packages() -> None:
    package = json.loads((FOLDER / "package.json").read_text())
    assert not {"dependencies", "devDependencies", "scripts"} & set(package)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_the_features_work(tmp_path: Path) -> None:
    pack(tmp_path / "stoker.vsix")
    with zipfile.ZipFile(tmp_path / "stoker.vsix") as archive:
        archive.extractall(tmp_path)
    command = [sys.executable, "-c", "from stoker.cli.main import main; main()"]
    words = ["node", str(WALK), str(tmp_path / "extension"), str(tmp_path), *command]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
