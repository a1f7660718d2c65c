"""Where files are: URLs of local files, and their short names for people."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

from stoker.cli.terminal.errors import CommandFailed


def url_of(location: str, base: str) -> str:
    """Return the absolute URL of a path or URL in the document at `base`.

    Raises CommandFailed if a document from the network refers to a file on this machine.
    """
    scheme = urlsplit(location).scheme
    if scheme == "file" and urlsplit(base).scheme != "file":
        raise CommandFailed(f"{base} refers to {location}; documents from the network must not refer to local files.")
    if scheme in ("http", "https", "file"):
        return location
    if urlsplit(base).scheme == "file":
        folder = Path(path_of(base)) if base.endswith("/") else Path(path_of(base)).parent
        return Path(_normal(folder / Path(location).expanduser())).as_uri()
    return urljoin(base, location)


def path_of(url: str) -> str:
    """The path of a file's URL."""
    return url2pathname(urlsplit(url).path)


def short(url: str) -> str:
    """Return a URL as the user would write it: for files below the working directory, the relative path."""
    if urlsplit(url).scheme != "file":
        return url
    path = Path(path_of(url))
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _normal(path: Path) -> Path:
    """Return an absolute path without `..`; symbolic links are not resolved."""
    parts: list[str] = []
    for part in path.absolute().parts:
        if part == "..":
            parts[1:] = parts[1:-1]
        else:
            parts.append(part)
    return Path(*parts)
