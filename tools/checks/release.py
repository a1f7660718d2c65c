"""Releases: one version in all places, the notes from the changelog, and what a folder of built files must have.

`packages/stoker/src/stoker/__init__.py` has the version. `python -m tools.checks` compares the others with it; and:

    python -m tools.checks.release set 0.2.0       write the version everywhere, and date its section of the changelog
    python -m tools.checks.release check v0.2.0    refuse a tag that is not the version, or has no section
    python -m tools.checks.release notes           print the section of the version
    python -m tools.checks.release sums dist       write SHA256SUMS
    python -m tools.checks.release verify dist     compare the sums, names and versions of what was built
"""

from __future__ import annotations

import hashlib
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from tools.checks.source_tree import ROOT, SourceTree, show

SOURCE = "packages/stoker/src/stoker/__init__.py"
_REQUIRED = (re.compile(r'"(?:stoker-foundation|openstack-emulator)==([^"]+)"'), "{version}")
_DEFINED = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
_FORM = re.compile(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?")
COPIES = {
    "packages/openstack-emulator/src/openstack_emulator/__init__.py": (_DEFINED, "{version}"),
    "packages/stoker-foundation/src/stoker_foundation/__init__.py": (_DEFINED, "{version}"),
    "packages/openstack-emulator/pyproject.toml": _REQUIRED,
    "packages/stoker/pyproject.toml": _REQUIRED,
    "packages/stoker-heat-commands/pyproject.toml": (re.compile(r'^version = "([^"]+)"$', re.MULTILINE), "{version}"),
    "packages/stoker-heat-plugins/pyproject.toml": (re.compile(r'^version = "([^"]+)"$', re.MULTILINE), "{version}"),
    "packages/stoker-kubernetes/pyproject.toml": (re.compile(r'^version = "([^"]+)"$', re.MULTILINE), "{version}"),
    "contrib/vscode/package.json": (re.compile(r'^  "version": "([^"]+)",$', re.MULTILINE), "{base}"),
    "docs/how-to/ci.md": (re.compile(r"(?:^    rev: |^    ref: |github-action@)([\w.]+)", re.MULTILINE), "{reference}"),
}
"""Where else the version is, and in which form: `base` without .dev, `reference` as the name of a tag or branch."""

WHEELS = (
    "openstack_emulator",
    "stoker",
    "stoker_foundation",
    "stoker_heat_commands",
    "stoker_heat_plugins",
    "stoker_kubernetes",
)
SUMS = "SHA256SUMS"
_CHANGELOG = "CHANGELOG.md"
_SECTION = re.compile(r"^## \[([^\]]+)\](?: - (\S+))?$", re.MULTILINE)
_UNRELEASED = "Unreleased"


def version_of(tree: SourceTree) -> str:
    """Return the version. Raises ValueError for one that is not X.Y.Z, X.Y.Z.devN or X.Y.ZrcN."""
    found = _DEFINED.search(tree.text(tree.root / SOURCE))
    if found is None or not _FORM.fullmatch(found[1]):
        raise ValueError(f"{SOURCE} has no version like 1.2.3")
    return found[1]


def is_development(version: str) -> bool:
    """Return whether a version is no release."""
    return ".dev" in version


def written(form: str, version: str) -> str:
    """Return the version in the form of a copy. Until a release exists, references name the branch main."""
    reference = "main" if is_development(version) else f"v{version}"
    return form.format(version=version, base=version.partition(".dev")[0], reference=reference)


def report(tree: SourceTree) -> list[str]:
    """The copies of the version that differ from it."""
    version = version_of(tree)
    found = []
    for name, (pattern, form) in COPIES.items():
        copies = pattern.findall(tree.text(tree.root / name))
        expected = written(form, version)
        if not copies:
            found.append(f"{name}: the version is missing")
        found += [f"{name}: the version is {copy}, not {expected}" for copy in copies if copy != expected]
    return found


def problems_of_tag(tree: SourceTree, tag: str) -> list[str]:
    """What is wrong with releasing the sources under this tag."""
    version = version_of(tree)
    found = report(tree)
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but the version is {version}")
    if is_development(version):
        found.append(f"{version} is a development version; `python -m tools.checks.release set` sets that of a release")
    if not notes(tree, version):
        found.append(f"{_CHANGELOG} has no section for {version}")
    return found


def notes(tree: SourceTree, version: str) -> str:
    """Return the changelog's section of a version, that of unreleased changes for a development version; or ''."""
    text = tree.text(tree.root / _CHANGELOG)
    headings = [*_SECTION.finditer(text)]
    version_heading = _UNRELEASED if is_development(version) else version
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        if heading[1] == version_heading:
            return text[heading.end() : following.start() if following else len(text)].strip()
    return ""


def set_version(root: Path, version: str, today: date) -> None:
    """Write a version to all places; a release gets a section of the changelog. Raises ValueError."""
    if not _FORM.fullmatch(version):
        raise ValueError(f"{version} is not a version like 1.2.3, 1.3.0.dev0 or 1.2.3rc1")
    for name, pattern, new in [
        (SOURCE, _DEFINED, version),
        *((n, p, written(f, version)) for n, (p, f) in COPIES.items()),
    ]:
        path = root / name
        path.write_text(_replaced(path.read_text(), pattern, new))
    if not is_development(version):
        path = root / _CHANGELOG
        path.write_text(
            path.read_text().replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {today}\n", 1)
        )


def _replaced(text: str, pattern: re.Pattern[str], new: str) -> str:
    """Return a file's content with the first group of each match replaced."""
    for match in reversed([*pattern.finditer(text)]):
        text = text[: match.start(1)] + new + text[match.end(1) :]
    return text


def write_sums(folder: Path) -> None:
    """Write the checksums of all files of a folder, in the format of sha256sum."""
    (folder / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in _digests(folder)))


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != SUMS:
            yield path.name, hashlib.sha256(path.read_bytes()).hexdigest()


def wrong_files(folder: Path, version: str) -> list[str]:
    """What is wrong with the built files of a version: checksums, missing files, versions inside wheels."""
    lines = (line.partition("  ") for line in (folder / SUMS).read_text().splitlines())
    listed = {name: digest for digest, _, name in lines}
    present = dict(_digests(folder))
    found = [f"{name}: it is not in {SUMS}" for name in present.keys() - listed.keys()]
    found += [f"{name}: it is missing" for name in listed.keys() - present.keys()]
    found += [
        f"{name}: its checksum differs" for name in present.keys() & listed.keys() if present[name] != listed[name]
    ]
    for name in WHEELS:
        wheel = folder / f"{name}-{version}-py3-none-any.whl"
        if not wheel.exists():
            found.append(f"{wheel.name}: it was not built")
            continue
        with zipfile.ZipFile(wheel) as archive:
            metadata = archive.read(f"{name}-{version}.dist-info/METADATA").decode()
        if f"\nVersion: {version}\n" not in metadata:
            found.append(f"{wheel.name}: its version is another one")
    if not (folder / f"stoker-{version}.tar.gz").exists():
        found.append(f"stoker-{version}.tar.gz: it was not built")
    return sorted(found)


def main(words: list[str]) -> int:
    """Run a command of the module's docstring; return the exit status."""
    tree = SourceTree(ROOT)
    match words:
        case ["set", version]:
            set_version(ROOT, version, datetime.now(UTC).date())
        case ["check", tag]:
            return show(problems_of_tag(tree, tag))
        case ["notes"]:
            print(notes(tree, version_of(tree)))
        case ["sums", folder]:
            write_sums(Path(folder))
        case ["verify", folder]:
            return show(wrong_files(Path(folder), version_of(tree)))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
