"""What a person does with a site of forms and tables, without a browser: read a page, follow a link, send a form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import requests

Attributes = dict[str, str]
_TIMEOUT = 120  # seconds, for a page on a busy machine
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_UNSEEN = frozenset({"script", "style", "template"})
_BLANK_TYPES = frozenset({"submit", "button", "reset", "image", "file"})


@dataclass(slots=True)
class Element:
    """An element of a page, with the elements and strings in it."""

    tag: str
    attributes: Attributes = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    def __getitem__(self, name: str) -> str:
        return self.attributes.get(name, "")

    def elements(self, *tags: str, **attributes: str) -> Iterator[Element]:
        """The elements below, in the order of the page, with one of these tags (any without) and these attributes.

        `class_` names one of the element's classes; `_` at the end of any other name is left off too.
        """
        for child in self.children:
            if isinstance(child, Element):
                if (not tags or child.tag in tags) and child._has(attributes):
                    yield child
                yield from child.elements(*tags, **attributes)

    def _has(self, attributes: Mapping[str, str]) -> bool:
        expected = {name.rstrip("_"): value for name, value in attributes.items()}
        return all(
            value in self[name].split() if name == "class" else self[name] == value for name, value in expected.items()
        )

    @property
    def text(self) -> str:
        """What is to be read, with single spaces."""
        return " ".join(" ".join(self._words()).split())

    def _words(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag not in _UNSEEN:
                yield from child._words()

    def fields(self) -> Attributes:
        """A form's names and the values that it would be sent with."""
        found = {}
        for control in self.elements("input", "select", "textarea"):
            if control["name"] and control["type"] not in _BLANK_TYPES:
                if control["type"] in ("checkbox", "radio") and "checked" not in control.attributes:
                    continue
                found[control["name"]] = control._value()
        return found

    def _value(self) -> str:
        if self.tag == "select":
            options = list(self.elements("option"))
            chosen = [option for option in options if "selected" in option.attributes] or options
            return chosen[0].attributes.get("value", chosen[0].text) if chosen else ""
        if self.tag == "textarea":
            return "".join(self._words()).removeprefix("\n")
        return self.attributes.get("value", "on" if self["type"] in ("checkbox", "radio") else "")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Element("page")
        self._open = [self.page]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        tags = [element.tag for element in self._open]
        if tag in tags[1:]:
            del self._open[len(tags) - 1 - tags[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it came: its address after redirects, and what is in it."""

    url: str
    body: Element

    @classmethod
    def read(cls, url: str, text: str) -> Page:
        """The page that HTML describes."""
        reader = _Reader()
        reader.feed(text)
        return cls(url, reader.page)

    def form(self, **attributes: str) -> Element:
        """The form with these attributes. Raises LookupError."""
        for form in self.body.elements("form", **attributes):
            return form
        raise LookupError(f"{self.url} has no form with {attributes}")

    @property
    def errors(self) -> list[str]:
        """What its error boxes say, apart from the one that is there for browsers without JavaScript."""
        boxes = self.body.elements("div", class_="alert-danger")
        return [box.text for box in boxes if "javascript-disabled" not in box["class"]]


class Visitor:
    """Somebody with a session. A page that is an error raises requests.HTTPError."""

    def __init__(self, site: str) -> None:
        self._site = site
        self._session = requests.Session()
        self._session.trust_env = False

    def get(self, path: str) -> Page:
        return self._page(self._session.get(urljoin(self._site, path), timeout=_TIMEOUT))

    def json(self, path: str) -> Any:
        answer = self._session.get(urljoin(self._site, path), timeout=_TIMEOUT)
        answer.raise_for_status()
        return answer.json()

    def send(
        self,
        page: Page,
        form: Element,
        values: Mapping[str, str],
        files: Mapping[str, tuple[str, str]] | None = None,
    ) -> Page:
        """Send a form of a page with other values in some of its fields; `files` maps a field to name and content."""
        if unknown := (values.keys() | (files or {}).keys()) - {control["name"] for control in form.elements()}:
            raise LookupError(f"the form {form['id'] or form['action']} has no {', '.join(sorted(unknown))}")
        target = urljoin(page.url, form["action"])
        body = form.fields() | dict(values)
        headers = {"Referer": page.url}
        return self._page(self._session.post(target, data=body, files=files, headers=headers, timeout=_TIMEOUT))

    @staticmethod
    def _page(answer: requests.Response) -> Page:
        answer.raise_for_status()
        return Page.read(answer.url, answer.text)
