"""Sphinx extension that makes the sidebar: the sections, and below those that lead to the page, what they contain.

The theme would list all pages on every page, which adds hundreds of links to each. Its list would also take a third of
the time of a build: Sphinx copies all lists of contents for every page, and the theme reads the HTML made of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html import escape
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import clean_astext

_OPEN = (
    '<input aria-label="Toggle navigation of {title}" checked="" class="toctree-checkbox" '
    'id="toctree-checkbox-{number}" name="toctree-checkbox-{number}" role="switch" type="checkbox"/>'
    '<label for="toctree-checkbox-{number}">'
    '<span class="icon"><svg><use href="#svg-arrow-right"></use></svg></span></label>'
)
"""What the theme puts before a list that can be closed."""


class Sidebar:
    """The list of sections on one page, in the theme's markup."""

    def __init__(self, builder: StandaloneHTMLBuilder, page: str) -> None:
        self._builder = builder
        self._page = page
        self._containing = _containing(builder.env, page)
        self._lists = 0

    def html(self) -> str:
        """The whole list."""
        return "\n".join(self._list(self._builder.config.root_doc, 1))

    def _list(self, containing: str, level: int) -> Iterator[str]:
        pages = self._builder.env.toctree_includes.get(containing, [])
        leads = any(page in self._containing for page in pages)
        yield '<ul class="current">' if leads else "<ul>"
        for page in pages:
            yield from self._entry(page, level)
        yield "</ul>"

    def _entry(self, page: str, level: int) -> Iterator[str]:
        title = _text(self._builder.env.titles[page])
        is_open = page in self._containing
        has_list = is_open and bool(self._builder.env.toctree_includes.get(page))
        classes = [f"toctree-l{level}", *["current"] * is_open, *["has-children"] * has_list]
        if page == self._page:
            link = f'<a class="current reference internal" href="#">{title}</a>'
            classes.append("current-page")
        else:
            uri = escape(self._builder.get_relative_uri(self._page, page))
            link = f'<a class="reference internal" href="{uri}">{title}</a>'
        begin = f'<li class="{" ".join(classes)}">{link}'
        if not has_list:
            yield f"{begin}</li>"
            return
        self._lists += 1
        yield begin + _OPEN.format(title=title, number=self._lists)
        yield from self._list(page, level + 1)
        yield "</li>"


@cache
def _text(title: Any) -> str:
    """The title of a page as HTML; it is in the lists of many pages."""
    return escape(clean_astext(title))


def _containing(env: BuildEnvironment, page: str) -> set[str]:
    """The page, and the pages whose lists of contents lead to it."""
    found, waiting = set[str](), [page]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += env.files_to_rebuild.get(one, ())
    return found


def hide_lists(app: Sphinx, page: str, template: str, context: dict[str, Any], document: object) -> None:
    """Leave the theme nothing to make its list of."""
    context.pop("toctree", None)


def show_sidebar(app: Sphinx, page: str, template: str, context: dict[str, Any], document: object) -> None:
    """Give the theme's template the list."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        context["furo_navigation_tree"] = Sidebar(app.builder, page).html()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension before and after the theme's handler of the same event; Sphinx calls this function."""
    app.connect("html-page-context", hide_lists, priority=400)
    app.connect("html-page-context", show_sidebar, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
