"""The server: requests and notifications of the Language Server Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path as FilePath
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec

from stoker import __version__
from stoker.authoring.layout import layout
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import StokerError
from stoker.language_server import describe, messages, navigation
from stoker.language_server.completion import complete
from stoker.language_server.names import Name
from stoker.language_server.navigation import Location
from stoker.language_server.outline import Outline
from stoker.language_server.positions import Positions
from stoker.language_server.project import Project, Report, TextDocument
from stoker_foundation.interpreter import python_command, python_environment

DELAY_SECONDS = 0.25
"""The time without typing after which a document is checked."""

_log = logging.getLogger(__name__)
PLAN = "stoker.plan"
_TRIGGERS = (":", " ", "{", "[", ",", ".", "!", '"', "/")
_LOST_LINES = 40
_SYNC = types.TextDocumentSyncKind.Full


class RequestRefused(JsonRpcException):
    """A request that cannot be fulfilled; the editor shows the message."""

    CODE = -32803  # RequestFailed in LSP 3.17


class StokerServer(LanguageServer):
    """A language server for templates and environments; `delay` is the time in seconds before documents are checked."""

    def __init__(self, delay: float = DELAY_SECONDS) -> None:
        super().__init__(name="stoker", version=__version__, text_document_sync_kind=_SYNC)
        self.project = Project()
        self.folder = ""
        self._delay = delay
        self._uris: dict[str, str] = {}
        self._reports: dict[str, Report] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._checker = ThreadPoolExecutor(1, "stoker-check")

    # -- documents ------------------------------------------------------------------------------------------------

    def path_of(self, uri: str) -> str:
        """Return the path of a document; the URI of a document without a file."""
        found = to_fs_path(uri)
        return os.path.normpath(found) if found else uri

    def uri_of(self, path: str) -> str:
        """Return the URI of a document as the editor writes it."""
        return self._uris.get(path) or from_fs_path(path) or path

    def opened(self, uri: str) -> TextDocument | None:
        """Return an open document."""
        return self.project.document(self.path_of(uri))

    def positions(self, text: str) -> Positions:
        """Return the positions of a document, in the editor's units."""
        return Positions(text, self._codec)

    @property
    def _codec(self) -> PositionCodec:
        return self.workspace.position_codec

    def put(self, uri: str, text: str) -> None:
        """Open or change a document, and check it and what refers to it soon."""
        path = self.path_of(uri)
        self._uris[path] = uri
        self.project.put(path, text)
        self.check_later([path, *self._users_of(path)])

    def close(self, uri: str) -> None:
        """Close a document and remove its diagnostics."""
        path = self.path_of(uri)
        self.project.close(path)
        if (task := self._waiting.pop(path, None)) is not None:
            task.cancel()
        before = self._reports.pop(path, None)
        self._publish([path, *(before.by_source if before else ())])
        self.check_later(self._users_of(path))

    def _users_of(self, path: str) -> list[str]:
        return [root for root, report in self._reports.items() if path in report.texts and root != path]

    # -- diagnostics ----------------------------------------------------------------------------------------------

    def check_later(self, paths: Iterable[str]) -> None:
        """Check documents when nothing has been typed for a while."""
        for path in paths:
            if (before := self._waiting.get(path)) is not None:
                before.cancel()
            self._waiting[path] = asyncio.get_running_loop().create_task(self._check(path))

    def check_all(self) -> None:
        """Check all open documents again: the files or environments that they refer to may have changed."""
        self.project.refresh()
        self.check_later(self.project.opened())

    async def _check(self, path: str) -> None:
        await asyncio.sleep(self._delay)
        loop = asyncio.get_running_loop()
        try:
            report = await loop.run_in_executor(self._checker, self.project.report, path)
        except StokerError as error:
            self.log(f"{path} was not checked: {error.message}")
            return
        except Exception as error:  # the other features keep working
            _log.exception("%s was not checked", path)
            self.show(f"{path} was not checked: internal error ({error})", types.MessageType.Error)
            return
        before = self._reports.get(path)
        self._reports[path] = report
        self._publish([*report.by_source, *(before.by_source if before else ())])

    def _publish(self, sources: Iterable[str]) -> None:
        for source in dict.fromkeys(sources):
            found = dict.fromkeys(
                item for report in self._reports.values() for item in report.by_source.get(source, ())
            )
            document = self.project.document(source)
            text = document.text if document else ""
            outline, positions = document.outline if document else Outline.of(""), self.positions(text)
            shown = [messages.diagnostic(item, outline, positions) for item in found]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(self.uri_of(source), shown))

    def problems(self, path: str, first: int, last: int) -> list[Diagnostic]:
        """Return the latest diagnostics of a document on these lines, which count from 0."""
        found = dict.fromkeys(item for report in self._reports.values() for item in report.by_source.get(path, ()))
        return [item for item in found if item.position is not None and first <= item.position.line - 1 <= last]

    def log(self, message: str) -> None:
        """Write a message into the editor's log."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Log, message))

    def show(self, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Show a message to the user."""
        self.window_show_message(types.ShowMessageParams(kind, message))

    def stop(self) -> None:
        """Stop checking documents: the editor is about to end the server."""
        for task in self._waiting.values():
            task.cancel()
        self._checker.shutdown(wait=False)

    # -- settings -------------------------------------------------------------------------------------------------

    def configure(self, settings: object) -> None:
        """Take over the settings: `environments` are files, relative to the folder of the workspace."""
        if isinstance(settings, Mapping):
            settings = settings.get("stoker", settings)
        named = settings.get("environments") if isinstance(settings, Mapping) else None
        if isinstance(named, list):
            folder = FilePath(self.folder or ".")
            self.project.use_environments(os.path.normpath(folder / str(name)) for name in named)

    # -- plans ----------------------------------------------------------------------------------------------------

    async def plan(self, path: str) -> None:
        """Run `stoker plan` for a template; its output goes to the log, and its last line is shown."""
        name = FilePath(path).name.split(".")[0]
        words = ["plan", name, "--template", path]
        for environment in self.project.environments:
            words += ["--environment", environment]
        process = await asyncio.create_subprocess_exec(
            *python_command("-c", "from stoker.cli.main import main; main()", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**python_environment(), "NO_COLOR": "1"},
            cwd=str(FilePath(path).parent),
        )
        output, _ = await process.communicate()
        text = output.decode("utf-8", "replace").strip()
        self.log(f"stoker {' '.join(words)}\n{text}")
        kind = types.MessageType.Error if process.returncode else types.MessageType.Info
        self.show("\n".join(text.splitlines()[-_LOST_LINES:]), kind)


def build(delay: float = DELAY_SECONDS) -> StokerServer:
    """Return a server with all features."""
    server = StokerServer(delay)
    _synchronize(server)
    _complete(server)
    _describe(server)
    _navigate(server)
    _change_documents(server)
    return server


def _synchronize(server: StokerServer) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        server.folder = to_fs_path(folders[0]) or ""
        server.configure(params.initialization_options)

    @server.feature(types.SHUTDOWN)
    def shutdown(_params: None) -> None:
        server.stop()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.put(params.text_document.uri, params.text_document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        for change in params.content_changes[-1:]:
            server.put(params.text_document.uri, change.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.check_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.check_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        server.configure(params.settings)
        server.check_all()


def _complete(server: StokerServer) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=list(_TRIGGERS), resolve_provider=True),
    )
    def completion(params: types.CompletionParams) -> types.CompletionList | None:
        document = server.opened(params.text_document.uri)
        if document is None:
            return None
        positions = server.positions(document.text)
        found = complete(server.project, document, positions.offset(params.position))
        return messages.completion(found, positions, document.path) if found else None

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> types.CompletionItem:
        data = item.data if isinstance(item.data, dict) else {}
        document = server.project.document(str(data.get("path", "")))
        kind = server.project.kind_named(document, str(data.get("type", ""))) if document else None
        if kind is not None:
            item.documentation = messages.markdown(describe.of_type(kind))
        return item


def _describe(server: StokerServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        document, positions, offset = _asked(server, params)
        found = describe.hover(server.project, document, offset) if document else None
        if found is None:
            return None
        text, token = found
        return types.Hover(messages.markdown(text), positions.range(token.start, token.end))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = server.opened(params.text_document.uri)
        if document is None:
            return []
        positions = server.positions(document.text)
        return [messages.symbol(found, positions) for found in navigation.symbols(document)]

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def code_lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        document = server.opened(params.text_document.uri)
        if document is None or document.names.version is None or not document.outline.tokens:
            return []
        first = document.outline.tokens[0]
        command = types.Command(title="plan", command=PLAN, arguments=[params.text_document.uri])
        return [types.CodeLens(server.positions(document.text).range(first.start, first.end), command)]


def _navigate(server: StokerServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        document, _, offset = _asked(server, params)
        place = navigation.definition(server.project, document, offset) if document else None
        return _location(server, place) if place else None

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        document, _, offset = _asked(server, params)
        if document is None:
            return []
        found = navigation.references(
            server.project, document, offset, with_declaration=params.context.include_declaration
        )
        return [_location(server, Location(other.path, use.start, use.end)) for other, uses in found for use in uses]


def _change_documents(server: StokerServer) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.opened(params.text_document.uri)
        if document is None:
            return []
        positions = server.positions(document.text)
        found = server.problems(document.path, params.range.start.line, params.range.end.line)
        return messages.quick_fixes(found, document, positions, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        document, positions, offset = _asked(server, params)
        if document is None:
            return None
        name = _or_refused(lambda: navigation.renaming(document, offset))
        return positions.range(name.start, name.end)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        document, _, offset = _asked(server, params)
        if document is None:
            return None
        found = _or_refused(lambda: navigation.rename(server.project, document, offset, params.new_name))
        changes = {
            server.uri_of(other.path): _edits(server.positions(other.text), uses, params.new_name)
            for other, uses in found
        }
        return types.WorkspaceEdit(changes=changes)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        document = server.opened(params.text_document.uri)
        if document is None:
            return []
        after = _or_refused(lambda: layout(document.text, document.path))
        return messages.changed_lines(document.text, after, server.positions(document.text))

    @server.command(PLAN)
    async def plan(uri: str) -> None:
        await server.plan(server.path_of(uri))


def _asked(
    server: StokerServer, params: types.TextDocumentPositionParams | types.HoverParams | Any
) -> tuple[TextDocument | None, Positions, int]:
    document = server.opened(params.text_document.uri)
    positions = server.positions(document.text if document else "")
    return document, positions, positions.offset(params.position)


def _or_refused(work: Any) -> Any:
    try:
        return work()
    except StokerError as error:
        raise RequestRefused(error.message) from error


def _edits(positions: Positions, uses: Iterable[Name], new: str) -> list[types.TextEdit]:
    return [types.TextEdit(positions.range(use.start, use.end), new) for use in uses]


def _location(server: StokerServer, place: Location) -> types.Location:
    document = server.project.document(place.path)
    positions = server.positions(document.text if document else "")
    return types.Location(server.uri_of(place.path), positions.range(place.start, place.end))
