"""Headers that restrict what browsers do with the console's pages, and checks of where a form comes from."""

from __future__ import annotations

from urllib.parse import urlsplit

import falcon

from stoker.console.settings import PREFIX

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Headers of every response. Scripts, styles and images come only from files of the console itself."""

_SAME = frozenset({"same-origin", "none"})


def check_origin(request: falcon.Request) -> None:
    """Refuse a request that a page of another origin has sent. Raises falcon.HTTPForbidden.

    https://fetch.spec.whatwg.org/#origin-header and https://www.w3.org/TR/fetch-metadata/ define the headers. The forms
    of a session contain a secret besides; the form for logging in has only this protection.
    """
    site, origin = request.get_header("Sec-Fetch-Site"), request.get_header("Origin")
    foreign = (
        site not in _SAME if site is not None else origin is not None and urlsplit(origin).netloc != request.netloc
    )
    if foreign:
        raise falcon.HTTPForbidden(description="The form was sent by a page of another site.")


def safe_target(target: str) -> str:
    """Return the path of a page of the console to continue with after the log-in; the first page for anything else."""
    parts = urlsplit(target)
    local = not parts.scheme and not parts.netloc and parts.path.startswith(f"{PREFIX}/")
    plain = target.isascii() and target.isprintable() and "\\" not in target and "//" not in parts.path
    return target if local and plain and ".." not in parts.path else f"{PREFIX}/stacks"
