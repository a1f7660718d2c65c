"""An editor: a client of the language server that talks to it over a socket, as over standard input and output."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from stoker.language_server.server import build

CURSOR = "|"
_TIMEOUT = 20


class Editor:
    """A client with open documents; `published` has the last diagnostics of each file by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("test", "1")
        self.published: dict[str, list[types.Diagnostic]] = {}
        self.shown: list[types.ShowMessageParams] = []
        self._news = asyncio.Condition()
        self._texts: dict[str, str] = {}
        self._version = 0
        self._tasks: list[asyncio.Task[Any]] = []
        self._writers: list[asyncio.StreamWriter] = []
        self._stop = threading.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        async def published(params: types.PublishDiagnosticsParams) -> None:
            async with self._news:
                self.published[params.uri.rpartition("/")[2]] = list(params.diagnostics)
                self._news.notify_all()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def shown(params: types.ShowMessageParams) -> None:
            self.shown.append(params)

        @self.client.feature(types.WINDOW_LOG_MESSAGE)  # type: ignore[untyped-decorator]
        def logged(params: types.LogMessageParams) -> None:
            pass

    async def connect(self, **settings: Any) -> types.InitializeResult:
        """Connect to a server in this process."""
        ends = socket.socketpair()
        self.server = build(delay=0)
        for protocol, end in ((self.server.protocol, ends[0]), (self.client.protocol, ends[1])):
            reader, writer = await asyncio.open_connection(sock=end)
            protocol.set_writer(writer)
            self._writers.append(writer)
            running = run_async(self._stop, reader, protocol, logging.getLogger("test"), _raised)
            self._tasks.append(asyncio.create_task(running))
        return await self._initialize(settings)

    async def start(self, **settings: Any) -> types.InitializeResult:
        """Start `stoker lsp` as a process."""
        await self.client.start_io(sys.executable, "-c", "from stoker.cli.main import main; main()", "lsp")
        return await self._initialize(settings)

    async def _initialize(self, settings: dict[str, Any]) -> types.InitializeResult:
        answer = await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(),
                root_uri=self.folder.as_uri(),
                initialization_options=settings or None,
            )
        )
        self.client.initialized(types.InitializedParams())
        return answer

    async def close(self) -> None:
        """End the connection, as an editor does."""
        await self.client.shutdown_async(None)
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            writer.close()
            await writer.wait_closed()
        if not self._tasks:
            self.client.exit(None)
            await self.client.stop()  # type: ignore[no-untyped-call]

    def uri(self, name: str) -> str:
        """The URI of a file."""
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> None:
        """Open a document that need not be saved."""
        self._texts[name] = text
        item = types.TextDocumentItem(self.uri(name), "yaml", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, text: str) -> None:
        """Type something."""
        self._version += 1
        self._texts[name] = text
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(uri=self.uri(name), version=self._version),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def text(self, name: str) -> str:
        """A document's text."""
        return self._texts[name]

    async def diagnostics(self, name: str, *rules: str) -> list[types.Diagnostic]:
        """Wait until the diagnostics of a file are of exactly these rules; answer them."""

        def expected() -> bool:
            return name in self.published and sorted(str(item.code) for item in self.published[name]) == sorted(rules)

        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(expected), _TIMEOUT)
            except TimeoutError:
                pytest.fail(f"not {rules}: {self.published.get(name)}")
        return self.published[name]

    # -- questions at the cursor ----------------------------------------------------------------------------------

    def at(self, name: str, needle: str, offset: int = 0) -> dict[str, Any]:
        """The document and the position of the first place of a string."""
        text = self._texts[name]
        return self._position(name, text, text.index(needle) + offset)

    def _position(self, name: str, text: str, offset: int) -> dict[str, Any]:
        before = text[:offset]
        line = before.count("\n")
        column = before.rpartition("\n")[2]
        units = len(column.encode("utf-16-le")) // 2
        return {
            "text_document": types.TextDocumentIdentifier(self.uri(name)),
            "position": types.Position(line, units),
        }

    async def complete(self, name: str, text: str) -> dict[str, str]:
        """Type a document with the cursor at `|`; answer the completions: the document's line after choosing each."""
        offset = text.index(CURSOR)
        typed = text[:offset] + text[offset + 1 :]
        (self.change if name in self._texts else self.open)(name, typed)
        params = types.CompletionParams(**self._position(name, typed, offset))
        answer = await self.client.text_document_completion_async(params)
        assert answer is None or isinstance(answer, types.CompletionList)
        items = answer.items if answer else ()
        return {item.label: self._applied(typed, [_edit(item)]) for item in items}

    @staticmethod
    def _applied(text: str, edits: list[types.TextEdit]) -> str:
        return applied(text, edits)


def _edit(item: types.CompletionItem) -> types.TextEdit:
    assert isinstance(item.text_edit, types.TextEdit)
    return item.text_edit


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """The document after edits, whose positions count UTF-16 units."""
    lines = text.split("\n")

    def offset(position: types.Position) -> int:
        line = lines[position.line].encode("utf-16-le")[: 2 * position.character].decode("utf-16-le")
        return sum(len(each) + 1 for each in lines[: position.line]) + len(line)

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def _raised(error: Exception, _kind: type[Exception]) -> None:
    raise error
