// A client of the Language Server Protocol over a process's standard input and output. It knows nothing of VS Code.
"use strict";

const { spawn } = require("child_process");
const fs = require("fs");
const path = require("path");

const METHOD_NOT_FOUND = -32601;
const SECONDS_TO_STOP = 2;

/**
 * The path of a program. A name is looked for in the absolute directories of the search path only, and never in the
 * folder that is open, where Windows would look first: others may have written what is there. A relative path is one of
 * that folder, which a trusted folder's settings may name.
 */
function located(program, folder) {
  if (path.isAbsolute(program)) return program;
  if (/[\\/]/.test(program)) return path.resolve(folder ?? "/", program);
  const endings = process.platform === "win32" ? [".exe", ".cmd", ".bat"] : [""];
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((each) => path.isAbsolute(each));
  const places = folders.flatMap((each) => endings.map((ending) => path.join(each, program + ending)));
  return places.find(executable) ?? path.join(path.parse(process.execPath).root, program);
}

function executable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

class Client {
  /**
   * @param {string[]} command The program and its arguments.
   * @param {string | undefined} folder The working directory.
   * @param {(method: string, params: any) => void} onNotification Called for each notification of the server.
   * @param {(message: string) => void} onEnd Called once when the server ends before `stop`.
   */
  constructor(command, folder, onNotification, onEnd) {
    this._onNotification = onNotification;
    this._onEnd = onEnd;
    this._waiting = new Map();
    this._lastId = 0;
    this._received = Buffer.alloc(0);
    this._errors = "";
    this._process = spawn(located(command[0], folder), command.slice(1), { cwd: folder, stdio: "pipe" });
    this._process.stdout.on("data", (data) => this._receive(data));
    this._process.stderr.on("data", (data) => (this._errors = (this._errors + data).slice(-2000)));
    this._process.stdin.on("error", () => {}); // the end of the process is reported below
    this._process.on("error", (error) => this._end(error.message));
    this._process.on("close", (code) => this._end(this._errors.trim() || `exit status ${code}`));
  }

  /** Send a request; the promise is rejected with the server's message, or when the server ends. */
  request(method, params) {
    if (this._onEnd === null) return Promise.reject(new Error("The language server has ended."));
    const id = ++this._lastId;
    return new Promise((resolve, reject) => {
      this._waiting.set(id, { resolve, reject });
      this._send({ id, method, params });
    });
  }

  /** Send a notification. */
  notify(method, params) {
    if (this._onEnd !== null) this._send({ method, params });
  }

  /** End the server. */
  async stop() {
    if (this._onEnd === null) return;
    this._onEnd = () => {};
    const late = setTimeout(() => this._process.kill(), SECONDS_TO_STOP * 1000);
    try {
      await this.request("shutdown", null);
      this.notify("exit", null);
    } catch {
      // it has ended already
    }
    await new Promise((resolve) => (this._process.exitCode === null ? this._process.once("close", resolve) : resolve()));
    clearTimeout(late);
  }

  _end(why) {
    const report = this._onEnd;
    if (report === null) return;
    this._onEnd = null;
    for (const { reject } of this._waiting.values()) reject(new Error("The language server has ended."));
    this._waiting.clear();
    report(why);
  }

  _send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
    this._process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this._process.stdin.write(body);
  }

  _receive(data) {
    this._received = Buffer.concat([this._received, data]);
    for (;;) {
      const end = this._received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = /Content-Length: *(\d+)/i.exec(this._received.toString("ascii", 0, end));
      const start = end + 4;
      const stop = start + Number(length ? length[1] : 0);
      if (this._received.length < stop) return;
      const body = this._received.toString("utf8", start, stop);
      this._received = this._received.subarray(stop);
      if (body) this._handle(JSON.parse(body));
    }
  }

  _handle(message) {
    if (message.method === undefined) {
      const waiting = this._waiting.get(message.id);
      this._waiting.delete(message.id);
      if (waiting && message.error) waiting.reject(new Error(message.error.message));
      else if (waiting) waiting.resolve(message.result);
    } else if (message.id !== undefined) {
      this._send({ id: message.id, error: { code: METHOD_NOT_FOUND, message: `${message.method} is not supported` } });
    } else {
      this._onNotification(message.method, message.params);
    }
  }
}

module.exports = { Client, located };
