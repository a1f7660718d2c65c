// The part of VS Code's interface that the extension uses, as it is documented, with one folder and its documents.
"use strict";

const path = require("path");
const { pathToFileURL, fileURLToPath } = require("url");

class Position { constructor(line, character) { this.line = line; this.character = character; } }
class Range {
  constructor(start, end, line, character) {
    this.start = typeof start === "number" ? new Position(start, end) : start;
    this.end = typeof start === "number" ? new Position(line, character) : end;
  }
}
class Uri {
  constructor(text) { this.text = text; this.fsPath = fileURLToPath(text); }
  static parse(text) { return new Uri(text); }
  toString() { return this.text; }
}
class Plain { constructor(...values) { this.values = values; } }
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
class CompletionItem { constructor(label, kind) { Object.assign(this, { label, kind }); } }
class DocumentSymbol { constructor(name, detail, kind, range) { Object.assign(this, { name, detail, kind, range }); } }
class CodeLens { constructor(range, command) { Object.assign(this, { range, command }); } }
class MarkdownString { constructor(value) { this.value = value; } }
class WorkspaceEdit { constructor() { this.edits = []; } set(uri, edits) { this.edits.push([uri.toString(), edits]); } }

const listeners = {};
const registered = { commands: {}, diagnostics: {}, errors: [], tasks: [] };
const on = (name) => (listener) => { listeners[name] = listener; return { dispose() {} }; };
const register = (name) => (selector, provider) => { registered[name] = provider; return { dispose() {} }; };
const configuration = { command: ["stoker"], environments: [], detectTemplates: true };

class Document {
  constructor(file, languageId, text) {
    Object.assign(this, { uri: new Uri(pathToFileURL(file).toString()), languageId, text, version: 1 });
  }
  get lineCount() { return this.text.split("\n").length; }
  getText(range) { return range ? this.text.split("\n").slice(0, range.end.line).join("\n") : this.text; }
}

module.exports = {
  Position, Range, Uri, Diagnostic, CompletionItem, DocumentSymbol, CodeLens, MarkdownString, WorkspaceEdit,
  Location: Plain, Hover: Plain, TextEdit: Plain, ProcessExecution: Plain, Task: Plain,
  TaskScope: { Workspace: 2 },
  languages: {
    createDiagnosticCollection: () => ({
      set: (uri, found) => { registered.diagnostics[path.basename(uri.fsPath)] = found; },
      clear: () => { registered.diagnostics = {}; },
    }),
    setTextDocumentLanguage: async (document, languageId) => { document.languageId = languageId; },
    registerCompletionItemProvider: register("completion"),
    registerHoverProvider: register("hover"),
    registerDefinitionProvider: register("definition"),
    registerReferenceProvider: register("references"),
    registerRenameProvider: register("rename"),
    registerDocumentSymbolProvider: register("symbols"),
    registerDocumentFormattingEditProvider: register("formatting"),
    registerCodeLensProvider: register("lenses"),
  },
  window: {
    createOutputChannel: () => ({ appendLine() {} }),
    showErrorMessage: (message) => registered.errors.push(message),
    showInformationMessage() {},
  },
  workspace: {
    workspaceFolders: [],
    textDocuments: [],
    getConfiguration: () => ({ get: (name) => configuration[name] }),
    onDidOpenTextDocument: on("open"),
    onDidChangeTextDocument: on("change"),
    onDidCloseTextDocument: on("close"),
    onDidSaveTextDocument: on("save"),
    onDidChangeConfiguration: on("configuration"),
  },
  commands: { registerCommand: (name, action) => { registered.commands[name] = action; return { dispose() {} }; } },
  tasks: { executeTask: async (task) => registered.tasks.push(task) },
  forTests: { Document, configuration, listeners, registered },
};
