// Starts `stoker lsp`, tells it about documents, and asks it what VS Code wants to know.
"use strict";

const path = require("path");
const vscode = require("vscode");
const { Client, located } = require("./client");
const convert = require("./convert");

const LANGUAGES = ["hot", "cfn", "yaml", "json"];
const OWN = ["hot", "cfn"];
const MARKS = /heat_template_version|HeatTemplateFormatVersion|AWSTemplateFormatVersion|resource_registry|parameter_defaults/;
const FIRST_LINES = 30;
const HOT = /^heat_template_version\s*:/m;
const CFN = /^["']?(AWS|Heat)TemplateFormatVersion["']?\s*:/m;
const TRIGGERS = [":", " ", "{", "[", ",", ".", "!", '"', "/"];
const MOST_RESTARTS = 3;

let server = null;

/** A running server, with the documents that it knows. */
class Server {
  constructor(context) {
    this._context = context;
    this._diagnostics = vscode.languages.createDiagnosticCollection("stoker");
    this._log = vscode.window.createOutputChannel("Stoker");
    this._known = new Set();
    this._restarts = 0;
    this._client = null;
    this._ready = Promise.resolve();
  }

  start() {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const command = [...settings().get("command"), "lsp"];
    const client = new Client(
      command,
      folder?.fsPath,
      (method, params) => this._notified(method, params),
      (why) => this._ended(command, why),
    );
    this._client = client;
    this._ready = client
      .request("initialize", {
        processId: process.pid,
        rootUri: folder ? folder.toString() : null,
        capabilities: {},
        initializationOptions: this._options(),
      })
      .then(() => {
        client.notify("initialized", {});
        vscode.workspace.textDocuments.forEach((document) => this.opened(document));
      });
    this._ready.catch(() => {}); // its end is reported by _ended
    return this._ready;
  }

  async stop() {
    await this._client?.stop();
    this._client = null;
    this._known.clear();
    this._diagnostics.clear();
  }

  async restart() {
    this._restarts = 0;
    await this.stop();
    await this.start();
  }

  configured() {
    this._client?.notify("workspace/didChangeConfiguration", { settings: { stoker: this._options() } });
  }

  saved(document) {
    if (this._known.has(document.uri.toString())) {
      this._client?.notify("textDocument/didSave", convert.asked(document));
    }
  }

  /** Tell the server about a document that is open, if it may be a template or an environment. */
  opened(document) {
    const uri = document.uri.toString();
    if (this._known.has(uri) || !this._client || !LANGUAGES.includes(document.languageId)) return;
    const text = document.getText();
    if (!OWN.includes(document.languageId) && !MARKS.test(text)) return;
    this._known.add(uri);
    const { languageId, version } = document;
    this._client.notify("textDocument/didOpen", { textDocument: { uri, languageId, version, text } });
  }

  changed(document) {
    const uri = document.uri.toString();
    if (!this._known.has(uri)) {
      this.opened(document);
      return;
    }
    this._client?.notify("textDocument/didChange", {
      textDocument: { uri, version: document.version },
      contentChanges: [{ text: document.getText() }],
    });
  }

  closed(document) {
    if (this._known.delete(document.uri.toString())) {
      this._client?.notify("textDocument/didClose", convert.asked(document));
    }
  }

  /** Ask about a document; null if the server does not know it, or has ended. */
  async ask(method, document, place, more) {
    await this._ready.catch(() => {});
    if (!this._client || !this._known.has(document.uri.toString())) return null;
    return this._client.request(`textDocument/${method}`, { ...convert.asked(document, place), ...more });
  }

  /** Ask for the rest of a completion item. */
  async resolved(item) {
    return this._client ? this._client.request("completionItem/resolve", item.found) : item.found;
  }

  _options() {
    return { environments: settings().get("environments") };
  }

  _notified(method, params) {
    if (method === "textDocument/publishDiagnostics") {
      this._diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(convert.diagnostic));
    } else if (method === "window/logMessage") {
      this._log.appendLine(params.message);
    } else if (method === "window/showMessage") {
      vscode.window.showInformationMessage(params.message);
    }
  }

  _ended(command, why) {
    this._client = null;
    this._known.clear();
    this._diagnostics.clear();
    this._log.appendLine(`${command.join(" ")}: ${why}`);
    if (this._restarts++ < MOST_RESTARTS && !why.includes("ENOENT") && !why.includes("pip install")) {
      this.start().catch(() => {});
      return;
    }
    vscode.window.showErrorMessage(
      `The language server "${command.join(" ")}" has ended: ${why}. Install it with: pip install 'stoker[lsp]', ` +
        "and name the program in the setting stoker.command.",
    );
  }
}

function settings() {
  return vscode.workspace.getConfiguration("stoker");
}

/** Treat a YAML document as a template if its first lines say that it is one. */
async function detect(document) {
  if (document.languageId !== "yaml" || !settings().get("detectTemplates")) return;
  const last = Math.min(FIRST_LINES, document.lineCount);
  const head = document.getText(new vscode.Range(0, 0, last, 0));
  const found = HOT.test(head) ? "hot" : CFN.test(head) ? "cfn" : null;
  if (found) await vscode.languages.setTextDocumentLanguage(document, found);
}

/** Run `stoker plan` in a terminal; the stack has the name of the file up to the first dot. */
async function plan(uri) {
  const file = uri ? vscode.Uri.parse(uri).fsPath : vscode.window.activeTextEditor?.document.uri.fsPath;
  if (!file) return;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? path.dirname(file);
  const environments = settings().get("environments").flatMap((name) => ["--environment", path.resolve(folder, name)]);
  const name = path.basename(file).split(".")[0];
  const [program, ...before] = settings().get("command");
  const words = [...before, "plan", name, "--template", file, ...environments];
  const run = new vscode.ProcessExecution(located(program, folder), words, { cwd: folder });
  const task = new vscode.Task({ type: "stoker" }, vscode.TaskScope.Workspace, `plan ${name}`, "Stoker", run);
  await vscode.tasks.executeTask(task);
}

function providers(running) {
  const selector = LANGUAGES.map((language) => ({ language, scheme: "file" }));
  const { languages } = vscode;
  return [
    languages.registerCompletionItemProvider(
      selector,
      {
        async provideCompletionItems(document, place) {
          const found = await running.ask("completion", document, place);
          return found ? found.items.map(convert.completionItem) : [];
        },
        async resolveCompletionItem(item) {
          const found = await running.resolved(item);
          item.documentation = convert.markdown(found.documentation);
          return item;
        },
      },
      ...TRIGGERS,
    ),
    languages.registerHoverProvider(selector, {
      async provideHover(document, place) {
        const found = await running.ask("hover", document, place);
        return found ? new vscode.Hover(convert.markdown(found.contents), convert.range(found.range)) : null;
      },
    }),
    languages.registerDefinitionProvider(selector, {
      async provideDefinition(document, place) {
        const found = await running.ask("definition", document, place);
        return found ? convert.location(found) : null;
      },
    }),
    languages.registerReferenceProvider(selector, {
      async provideReferences(document, place, context) {
        const found = await running.ask("references", document, place, { context });
        return (found || []).map(convert.location);
      },
    }),
    languages.registerRenameProvider(selector, {
      async prepareRename(document, place) {
        const found = await running.ask("prepareRename", document, place);
        if (!found) throw new Error("This document is not a template.");
        return convert.range(found);
      },
      async provideRenameEdits(document, place, newName) {
        const found = await running.ask("rename", document, place, { newName });
        return found ? convert.workspaceEdit(found) : null;
      },
    }),
    languages.registerDocumentSymbolProvider(selector, {
      async provideDocumentSymbols(document) {
        return ((await running.ask("documentSymbol", document)) || []).map(convert.symbol);
      },
    }),
    languages.registerDocumentFormattingEditProvider(
      OWN.map((language) => ({ language })),
      {
        async provideDocumentFormattingEdits(document, options) {
          return ((await running.ask("formatting", document, undefined, { options })) || []).map(convert.textEdit);
        },
      },
    ),
    languages.registerCodeLensProvider(selector, {
      async provideCodeLenses(document) {
        return ((await running.ask("codeLens", document)) || []).map(convert.codeLens);
      },
    }),
  ];
}

async function activate(context) {
  server = new Server(context);
  const { workspace } = vscode;
  context.subscriptions.push(
    ...providers(server),
    workspace.onDidOpenTextDocument(async (document) => {
      await detect(document);
      server.opened(document);
    }),
    workspace.onDidChangeTextDocument((event) => server.changed(event.document)),
    workspace.onDidCloseTextDocument((document) => server.closed(document)),
    workspace.onDidSaveTextDocument((document) => server.saved(document)),
    workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("stoker") && server.configured()),
    vscode.commands.registerCommand("stoker.plan", plan),
    vscode.commands.registerCommand("stoker.restart", () => server.restart()),
  );
  for (const document of workspace.textDocuments) await detect(document);
  await server.start().catch(() => {});
}

async function deactivate() {
  await server?.stop();
}

module.exports = { activate, deactivate };
