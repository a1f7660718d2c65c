"""Pack the extension for VS Code as a .vsix, without Node.js and without the network.

A .vsix is a zip archive with the extension's files below `extension/`, a manifest for the gallery, and the content
types of the Open Packaging Conventions. `python -m contrib.vscode.pack [FILE]` writes it.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

FOLDER = Path(__file__).parent
_LICENSE = FOLDER.parents[1] / "LICENSE"
_SUFFIXES = frozenset({".js", ".json", ".md"})
_TYPES = {"json": "application/json", "js": "application/javascript", "md": "text/markdown", "txt": "text/plain"}
_TIME = (1980, 1, 1, 0, 0, 0)
"""The same for all files, so that the same sources make the same archive."""


def files() -> Mapping[str, bytes]:
    """Return the content of the extension's files by their names in the archive."""
    found = [path for path in sorted(FOLDER.rglob("*")) if path.suffix in _SUFFIXES and path.is_file()]
    named = {f"extension/{path.relative_to(FOLDER).as_posix()}": path.read_bytes() for path in found}
    return {**named, "extension/LICENSE.txt": _LICENSE.read_bytes()}


def manifest(package: Mapping[str, Any]) -> str:
    """Return the gallery's manifest of an extension with this `package.json`."""
    identity = {"Language": "en-US", "Id": package["name"], "Version": package["version"]}
    attributes = " ".join(f"{key}={quoteattr(value)}" for key, value in identity.items())
    assets = {
        "Microsoft.VisualStudio.Code.Manifest": "extension/package.json",
        "Microsoft.VisualStudio.Services.Content.Details": "extension/README.md",
        "Microsoft.VisualStudio.Services.Content.License": "extension/LICENSE.txt",
    }
    listed = "\n".join(f'    <Asset Type="{kind}" Path="{path}" Addressable="true" />' for kind, path in assets.items())
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity {attributes} Publisher={quoteattr(package["publisher"])} />
    <DisplayName>{escape(package["displayName"])}</DisplayName>
    <Description xml:space="preserve">{escape(package["description"])}</Description>
    <Tags>{escape(",".join(package["keywords"]))}</Tags>
    <Categories>{escape(",".join(package["categories"]))}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(package["engines"]["vscode"])} />
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace" />
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code" />
  </Installation>
  <Dependencies />
  <Assets>
{listed}
  </Assets>
</PackageManifest>
"""


def _content_types() -> str:
    known = {**_TYPES, "vsixmanifest": "text/xml"}
    lines = "".join(f'<Default Extension=".{suffix}" ContentType="{kind}" />' for suffix, kind in known.items())
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{lines}</Types>\n'
    )


def pack(target: Path) -> None:
    """Write the archive."""
    content = files()
    package = json.loads(content["extension/package.json"])
    parts = {
        "extension.vsixmanifest": manifest(package).encode(),
        "[Content_Types].xml": _content_types().encode(),
        **content,
    }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED)


def main() -> None:
    """Write the archive that the command line names, by default one with the version in this folder's `dist`."""
    package = json.loads((FOLDER / "package.json").read_text())
    default = FOLDER / "dist" / f"{package['name']}-{package['version']}.vsix"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    target.parent.mkdir(parents=True, exist_ok=True)
    pack(target)
    print(target)


if __name__ == "__main__":
    main()
