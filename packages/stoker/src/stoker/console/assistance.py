"""Completion and descriptions for the editor, by the language server's rules.

Only the documents of the request are read: never a file of this machine, nor a URL.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from functools import cached_property

import falcon

from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer
from stoker.language_server import describe
from stoker.language_server.completion import complete
from stoker.language_server.files import GivenFiles
from stoker.language_server.items import Category, Completion, Item
from stoker.language_server.project import Project, TextDocument
from stoker.plugins.registry import Registry

_ROOT = "/template"
"""The folder that stands for the editor's documents: names of files are relative to it."""

_MAIN, _ENVIRONMENT = f"{_ROOT}/.template", f"{_ROOT}/.environment"
_MOST = 60


class Assistant:
    """Answers questions about documents that are being typed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @cached_property
    def _registry(self) -> Registry:
        return Registry.on_demand()

    def answer(self, exchange: Exchange) -> None:
        """Answer a request of the editor's script with JSON: the field `ask` says what it is about."""
        ask = {"complete": self._complete, "describe": self._describe, "type": self._type}.get(exchange.form("ask"))
        if ask is None:
            raise falcon.HTTPBadRequest(description="The field `ask` is complete, describe or type.")
        texts = texts_of(exchange)
        with self._lock:
            project = Project(files=GivenFiles(texts), registry=self._registry)
            if texts[_ENVIRONMENT].strip():
                project.use_environments([_ENVIRONMENT])
            path = _path(exchange.form("document"))
            document = TextDocument(path, texts.get(path, ""), path == _ENVIRONMENT)
            answer = ask(project, document, exchange)
        exchange.response.content_type = "application/json"
        exchange.response.text = json.dumps(answer)

    def _complete(self, project: Project, document: TextDocument, exchange: Exchange) -> Answer:
        completion = complete(project, document, _offset(exchange, document))
        return {"items": []} if completion is None else _shown(completion, document)

    def _describe(self, project: Project, document: TextDocument, exchange: Exchange) -> Answer:
        offset = _offset(exchange, document)
        described = describe.hover(project, document, offset) or describe.hover(project, document, max(0, offset - 1))
        return {} if described is None else {"text": described[0], "start": described[1].start, "end": described[1].end}

    def _type(self, project: Project, document: TextDocument, exchange: Exchange) -> Answer:
        kind = project.kind_named(document, exchange.form("name"))
        return {} if kind is None else {"text": describe.of_type(kind)}


def texts_of(exchange: Exchange) -> dict[str, str]:
    """Return the documents in the form by their path."""
    texts = {_MAIN: exchange.form("template"), _ENVIRONMENT: exchange.form("environment")}
    texts |= {f"{_ROOT}/{name}": text for name, text in files_of(exchange.fields()).items()}
    return {path: text.replace("\r\n", "\n") for path, text in texts.items()}


FILE = "file:"
"""Begins the names of the form's fields for files."""


def files_of(fields: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the files in a form by their name."""
    return {
        name.removeprefix(FILE): values[-1].replace("\r\n", "\n")
        for name, values in fields.items()
        if name.startswith(FILE) and name != FILE
    }


def _path(document: str) -> str:
    known = {"template": _MAIN, "environment": _ENVIRONMENT}
    return known.get(document) or f"{_ROOT}/{document.removeprefix(FILE)}"


def _offset(exchange: Exchange, document: TextDocument) -> int:
    text = exchange.form("offset")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise falcon.HTTPBadRequest(description="The field `offset` is the number of characters before the caret.")
    return min(int(text), len(document.text))


def _shown(completion: Completion, document: TextDocument) -> Answer:
    """Return the items that match what has been typed: those that begin with it first, then the important ones."""
    typed = document.text[completion.start : completion.end].strip().strip("\"'").casefold()

    def order(item: Item) -> tuple[bool, bool]:
        return (not item.label.casefold().startswith(typed), not item.first)

    matching = sorted((item for item in completion.items if typed in item.label.casefold()), key=order)
    return {
        "start": completion.start,
        "end": completion.end,
        "count": len(matching),
        "items": [
            {
                "label": item.label,
                "insert": item.insert,
                "kind": item.category.value,
                "detail": item.detail,
                "text": item.documentation,
                "described": item.category is Category.TYPE,
                "deprecated": item.deprecated,
            }
            for item in matching[:_MOST]
        ],
    }
