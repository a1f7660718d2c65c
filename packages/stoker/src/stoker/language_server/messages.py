"""The parts of LSP messages, made from what the other modules return."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lsprotocol import types

from stoker.authoring.fixes import fix_of
from stoker.authoring.rules import WARNING
from stoker.base.diagnostics import Diagnostic
from stoker.base.manual import nearest_rule_page
from stoker.language_server.items import Category, Completion, Item
from stoker.language_server.names import NameKind
from stoker.language_server.navigation import Symbol
from stoker.language_server.outline import Outline
from stoker.language_server.positions import Positions
from stoker.language_server.project import TextDocument

SOURCE = "stoker"
_WORD = re.compile(r"""["']?[\w./+\-]+(?:::?[\w./+\-]+)*["']?|.""")
_TAGS: Mapping[str, types.DiagnosticTag] = {
    "unused-parameter": types.DiagnosticTag.Unnecessary,
    "unused-condition": types.DiagnosticTag.Unnecessary,
    "unused-ignore": types.DiagnosticTag.Unnecessary,
    "ineffective-property": types.DiagnosticTag.Unnecessary,
    "deprecated-property": types.DiagnosticTag.Deprecated,
    "deprecated-type": types.DiagnosticTag.Deprecated,
}
_ITEM_KINDS: Mapping[Category, types.CompletionItemKind] = {
    Category.SECTION: types.CompletionItemKind.Module,
    Category.TYPE: types.CompletionItemKind.Class,
    Category.PROPERTY: types.CompletionItemKind.Property,
    Category.VALUE: types.CompletionItemKind.EnumMember,
    Category.FUNCTION: types.CompletionItemKind.Function,
    Category.PARAMETER: types.CompletionItemKind.Variable,
    Category.RESOURCE: types.CompletionItemKind.Struct,
    Category.ATTRIBUTE: types.CompletionItemKind.Field,
    Category.NAME: types.CompletionItemKind.Constant,
    Category.FILE: types.CompletionItemKind.File,
}
_SYMBOL_KINDS: Mapping[NameKind | None, types.SymbolKind] = {
    None: types.SymbolKind.Namespace,
    NameKind.PARAMETER: types.SymbolKind.Variable,
    NameKind.RESOURCE: types.SymbolKind.Struct,
    NameKind.CONDITION: types.SymbolKind.Boolean,
    NameKind.MAPPING: types.SymbolKind.Object,
    NameKind.OUTPUT: types.SymbolKind.Property,
}


def diagnostic(found: Diagnostic, outline: Outline, positions: Positions) -> types.Diagnostic:
    """Return a diagnostic with the range of the wrong value; at the start of the document if it has no position."""
    start = end = 0
    if found.position is not None:
        start = positions.start_of(found.position.line, found.position.column)
        token = outline.at(start + 1)
        if token is not None and token.start - 1 <= start <= token.end and "\n" not in token.text:
            start, end = token.start, token.end
        else:
            word = _WORD.match(outline.text, start)
            end = word.end() if word else start
    tag = _TAGS.get(found.rule)
    page = nearest_rule_page(found.rule)
    return types.Diagnostic(
        range=positions.range(start, end),
        message=f"{found.message}\n{found.hint}" if found.hint else found.message,
        severity=types.DiagnosticSeverity.Warning if found.severity == WARNING else types.DiagnosticSeverity.Error,
        code=found.rule,
        code_description=types.CodeDescription(page) if page else None,
        source=SOURCE,
        tags=[tag] if tag else None,
    )


def completion(found: Completion, positions: Positions, path: str) -> types.CompletionList:
    """Return the items; that of a type has the type's name and the document in `data`, from which it is resolved."""
    replaced = positions.range(found.start, found.end)
    return types.CompletionList(is_incomplete=False, items=[_item(item, replaced, path) for item in found.items])


def _item(item: Item, replaced: types.Range, path: str) -> types.CompletionItem:
    return types.CompletionItem(
        label=item.label,
        kind=_ITEM_KINDS[item.category],
        detail=item.detail or None,
        documentation=markdown(item.documentation) if item.documentation else None,
        sort_text=f"{0 if item.first else 1}{item.label}",
        filter_text=item.label,
        text_edit=types.TextEdit(replaced, item.insert),
        insert_text_mode=types.InsertTextMode.AsIs,
        tags=[types.CompletionItemTag.Deprecated] if item.deprecated else None,
        data={"path": path, "type": item.label} if item.category is Category.TYPE else None,
    )


def markdown(text: str) -> types.MarkupContent:
    """Return Markdown as the protocol has it."""
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def symbol(found: Symbol, positions: Positions) -> types.DocumentSymbol:
    """Return a section or entry with its children."""
    name = found.name
    return types.DocumentSymbol(
        name=name.text or "(no name)",
        kind=_SYMBOL_KINDS[found.kind],
        range=positions.range(name.start, max(name.end, found.end)),
        selection_range=positions.range(name.start, name.end),
        detail=found.detail or None,
        children=[symbol(child, positions) for child in found.children] or None,
    )


def changed_lines(before: str, after: str, positions: Positions) -> list[types.TextEdit]:
    """Return one edit of the lines that differ, so that the cursor stays where nothing changes; empty if none do."""
    if before == after:
        return []
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    shorter = min(len(old), len(new))
    first = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    last = next((index for index in range(shorter - first) if old[-1 - index] != new[-1 - index]), shorter - first)
    start = sum(map(len, old[:first]))
    end = len(before) - sum(map(len, old[len(old) - last :]))
    text = "".join(new[first : len(new) - last])
    return [types.TextEdit(positions.range(start, end), text)]


def quick_fixes(
    found: Iterable[Diagnostic], document: TextDocument, positions: Positions, uri: str
) -> list[types.CodeAction]:
    """Return what corrects problems of a document: the name that is meant, or a comment that suppresses the rule."""
    actions = []
    for item in found:
        shown = diagnostic(item, document.outline, positions)
        if (fix := fix_of(document.text, item)) is not None:
            edit = types.TextEdit(positions.range(fix.start, fix.end), fix.new)
            actions.append(_action(f"Change to {fix.new!r}", shown, uri, edit, preferred=True))
        if not document.is_json and item.position is not None:
            end = document.text.find("\n", positions.start_of(item.position.line, 1))
            end = len(document.text) if end < 0 else end
            line = document.text[positions.start_of(item.position.line, 1) : end]
            if "#" not in line and not line.rstrip().endswith(("|", ">", "|-", ">-")):
                edit = types.TextEdit(positions.range(end, end), f"  # stoker: ignore[{item.rule}]")
                actions.append(_action(f"Ignore {item.rule} on this line", shown, uri, edit, preferred=False))
    return actions


def _action(
    title: str, shown: types.Diagnostic, uri: str, edit: types.TextEdit, *, preferred: bool
) -> types.CodeAction:
    changes = types.WorkspaceEdit(changes={uri: [edit]})
    kind = types.CodeActionKind.QuickFix
    return types.CodeAction(title, kind=kind, diagnostics=[shown], is_preferred=preferred, edit=changes)
