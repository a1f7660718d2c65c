// The protocol's objects as VS Code's, and back. Both count lines and UTF-16 units from 0.
"use strict";

const vscode = require("vscode");

const position = (place) => new vscode.Position(place.line, place.character);
const range = (place) => new vscode.Range(position(place.start), position(place.end));
const markdown = (content) => (content ? new vscode.MarkdownString(content.value) : undefined);
const location = (place) => new vscode.Location(vscode.Uri.parse(place.uri), range(place.range));
const textEdit = (edit) => new vscode.TextEdit(range(edit.range), edit.newText);

/** The document and place that a request asks about. */
function asked(document, place) {
  return {
    textDocument: { uri: document.uri.toString() },
    position: place && { line: place.line, character: place.character },
  };
}

function diagnostic(found) {
  // The protocol's severities count from 1, VS Code's from 0, in the same order; the tags are equal.
  const made = new vscode.Diagnostic(range(found.range), found.message, found.severity - 1);
  made.code = found.code;
  made.source = found.source;
  made.tags = found.tags;
  return made;
}

function completionItem(found) {
  // The protocol's kinds count from 1, VS Code's from 0, in the same order.
  const made = new vscode.CompletionItem(found.label, found.kind - 1);
  made.detail = found.detail;
  made.documentation = markdown(found.documentation);
  made.sortText = found.sortText;
  made.filterText = found.filterText;
  made.range = range(found.textEdit.range);
  made.insertText = found.textEdit.newText;
  made.keepWhitespace = true;
  made.tags = found.tags;
  made.found = found;
  return made;
}

function symbol(found) {
  const made = new vscode.DocumentSymbol(
    found.name, found.detail || "", found.kind - 1, range(found.range), range(found.selectionRange),
  );
  made.children = (found.children || []).map(symbol);
  return made;
}

function workspaceEdit(found) {
  const made = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(found.changes || {})) made.set(vscode.Uri.parse(uri), edits.map(textEdit));
  return made;
}

function codeLens(found) {
  return new vscode.CodeLens(range(found.range), found.command);
}

module.exports = { asked, codeLens, completionItem, diagnostic, location, markdown, range, symbol, textEdit, workspaceEdit };
