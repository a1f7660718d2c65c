"""Write the manual pages, or check that they fit the programs: `python -m manual_pages [--check]`."""

from __future__ import annotations

import sys
from pathlib import Path

from manual_pages import heat_pages, stoker_pages

ROOT = Path(__file__).parents[3]
DIRECTORIES = {
    ROOT / "packages" / "stoker" / "man": stoker_pages.pages,
    ROOT / "packages" / "stoker-heat-commands" / "man": heat_pages.pages,
}
"""The directories that the distributions install as `share/man/man1`."""


def expected_pages() -> dict[Path, str]:
    """Return the content of all pages by path."""
    return {folder / f"{page.name}.1": page.render() for folder, pages in DIRECTORIES.items() for page in pages()}


def outdated(pages: dict[Path, str]) -> list[Path]:
    """Return the files that differ from `pages`, are missing, or are not among them."""
    present = {path: path.read_text() for folder in DIRECTORIES for path in folder.glob("*.1")}
    return sorted(path for path in pages.keys() | present.keys() if pages.get(path) != present.get(path))


def main() -> int:
    pages = expected_pages()
    changed = outdated(pages)
    if "--check" in sys.argv[1:]:
        for path in changed:
            print(f"{path.relative_to(ROOT)}: does not fit the program's help; `make man` writes it")
        return 1 if changed else 0
    for path in changed:
        if path in pages:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages[path])
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
