// Use the extension as VS Code does, with a real language server: node walk.js EXTENSION FOLDER PROGRAM...
"use strict";

const assert = require("assert");
const Module = require("module");
const path = require("path");

const [extensionFolder, folder, ...command] = process.argv.slice(2);
const load = Module._load;
Module._load = (name, ...more) => (name === "vscode" ? load(path.join(__dirname, "vscode.js"), ...more) : load(name, ...more));
const vscode = require("vscode");
const { Document, configuration, listeners, registered } = vscode.forTests;
const extension = require(path.join(extensionFolder, "extension.js"));

const TEXT = `# A comment comes first.
heat_template_version: 2021-04-16
parameters:
  size: {type: string}
resources:
  web:
    type: OS::Nova::Server
    properties:
      flavr: {get_param: size}
      image: cirros
`;

async function until(condition) {
  for (let tries = 0; tries < 600; tries++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`not: ${condition}; ${JSON.stringify(registered)}`);
}

async function walk() {
  configuration.command = command;
  vscode.workspace.workspaceFolders = [{ uri: vscode.Uri.parse(`file://${folder}`) }];
  const web = new Document(path.join(folder, "web.yaml"), "yaml", TEXT);
  vscode.workspace.textDocuments = [web];
  await extension.activate({ subscriptions: [] });
  assert.equal(web.languageId, "hot");

  await until(() => registered.diagnostics["web.yaml"]?.length);
  const found = registered.diagnostics["web.yaml"].find((each) => each.code === "unknown-property");
  assert.match(found.message, /did you mean 'flavor'/);
  assert.equal(found.severity, 0);
  assert.equal(found.range.start.line, 8);

  const items = await registered.completion.provideCompletionItems(web, new vscode.Position(6, 16));
  const item = items.find((each) => each.label === "OS::Nova::Server");
  assert.equal(item.kind, 6); // CompletionItemKind.Class
  assert.match((await registered.completion.resolveCompletionItem(item)).documentation.value, /Required properties/);

  const at = new vscode.Position(8, 27);
  assert.match((await registered.hover.provideHover(web, at)).values[0].value, /type: string/);
  assert.equal((await registered.definition.provideDefinition(web, at)).values[1].start.line, 3);
  assert.equal((await registered.references.provideReferences(web, at, { includeDeclaration: true })).length, 2);
  assert.equal((await registered.rename.prepareRename(web, at)).end.character, 29);
  assert.equal((await registered.rename.provideRenameEdits(web, at, "kind")).edits[0][1].length, 2);
  await assert.rejects(registered.rename.provideRenameEdits(web, at, "a: b"), /cannot be the name/);
  const symbols = await registered.symbols.provideDocumentSymbols(web);
  assert.deepEqual(symbols[2].children.map((each) => each.name), ["web"]);
  assert.ok((await registered.formatting.provideDocumentFormattingEdits(web, { tabSize: 2, insertSpaces: true })).length);
  const [lens] = await registered.lenses.provideCodeLenses(web);
  await registered.commands[lens.command.command](...lens.command.arguments);
  const [task] = registered.tasks;
  assert.deepEqual(task.values[4].values[1].slice(-4), ["plan", "web", "--template", path.join(folder, "web.yaml")]);

  web.text = TEXT.replace("flavr", "flavor");
  web.version++;
  listeners.change({ document: web });
  await until(() => !registered.diagnostics["web.yaml"].length);

  const other = new Document(path.join(folder, "values.yaml"), "yaml", "replicas: 1\n");
  await listeners.open(other);
  assert.equal(other.languageId, "yaml");
  assert.deepEqual(await registered.completion.provideCompletionItems(other, new vscode.Position(0, 0)), []);
  listeners.close(web);
  await registered.commands["stoker.restart"]();
  await extension.deactivate();

  configuration.command = [path.join(folder, "missing")];
  await extension.activate({ subscriptions: [] });
  await until(() => registered.errors.length);
  assert.match(registered.errors[0], /pip install/);
}

walk().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
