import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { ConfigInvalid } from "../../domain/errors.ts";
import { type JsonObject, parseJson } from "../../domain/json.ts";
import { keepSecret } from "../../domain/redact.ts";
import type { McpConnection, McpTransport } from "../../personas/mcp/mcp-server.ts";
import { ServiceLost } from "../../personas/mcp/service-lost.ts";
import { AnswerTooLong, maxAnswerLength } from "../../personas/mcp/watched-fetch.ts";
import type { Environment } from "../../personas/model/model-sources.ts";
import type { McpServerDefinition } from "../../team/definition/mcp-keys.ts";
import type { RunningService } from "../../workspace/service.ts";
import { isInSystem } from "../../workspace/system-folders.ts";
import { userCertificates, userRegistries } from "../setup/user-registries.ts";
import type { CommandPlace } from "./command-place.ts";
import { passedThrough } from "./shell.ts";

/** Reaches a server of a team: at its address, or as a program in the sandbox. */
export async function connectMcp(
  name: string,
  server: McpServerDefinition,
  env: Environment,
  place: CommandPlace,
): Promise<McpConnection> {
  const { url, headers = {}, command = [] } = server;
  if (url !== undefined) return { type: "http", url, headers: filledIn(name, headers, env) };
  const { env: names = [], readable = [], writable = [], network = true } = server;
  // `npx -y` installs its package first, from where the user's own npm does.
  const [registries, certificates] = network
    ? await Promise.all([userRegistries(env), userCertificates(env)])
    : [];
  const service = await place.service({
    argv: command,
    env: { ...registries?.env, ...certificates?.env, ...passedThrough(names, env) },
    network,
    readable,
    writablePlaces: writable,
    visible: [...(await packagesOf(command)), ...(certificates?.files ?? [])],
  });
  return new StdioTransport(name, service);
}

/** `$NAME` stands for a variable of the environment. */
function filledIn(
  server: string,
  headers: Readonly<Record<string, string>>,
  env: Environment,
): Record<string, string> {
  const filled = Object.entries(headers).map(([header, text]): [string, string] => {
    const value = text.replaceAll(/\$([A-Za-z_][A-Za-z0-9_]*)/g, (_, name: string) => {
      const found = env[name];
      if (found !== undefined && found !== "") {
        keepSecret([found]);
        return found;
      }
      throw new ConfigInvalid(
        `The header ${header} of the MCP server ${server} needs ${name}, which is not set.`,
        {
          advice: `Set ${name} in the environment, then resume.`,
        },
      );
    });
    return [header, value];
  });
  return Object.fromEntries(filled);
}

/**
 * The program and its script, with the package of each. Any other argument is only text: a file that the server should
 * read stands in `readable`.
 */
async function packagesOf([program = "", ...args]: readonly string[]): Promise<readonly string[]> {
  const script = args.find((argument) => !argument.startsWith("-")) ?? "";
  const found: string[] = [];
  for (const path of [program, script].filter(isAbsolute)) {
    if (isInSystem(path) || (await stat(path).catch(() => undefined))?.isFile() !== true) continue;
    const parts = path.split("/");
    const at = parts.indexOf("node_modules");
    found.push(...(at === -1 ? [path, ...besides(path)] : [parts.slice(0, at + 1).join("/")]));
  }
  return found;
}

/** The nearest package that a script belongs to: never its other files, which may hold secrets. */
function besides(script: string): readonly string[] {
  for (let folder = dirname(script); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json")))
      return [join(folder, "package.json"), join(folder, "node_modules")];
  }
  return [];
}

/** One message a line. A line that is no message is what the server prints for people, and is skipped. */
class StdioTransport implements McpTransport {
  onmessage?: (message: never) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #name: string;
  readonly #service: RunningService & { readonly remove: () => Promise<void> };
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  #printed = "";
  #isOver = false;

  constructor(name: string, service: RunningService & { readonly remove: () => Promise<void> }) {
    this.#name = name;
    this.#service = service;
  }

  async start(): Promise<void> {
    const { child } = this.#service;
    child.stdout?.on("data", (chunk: Buffer) => this.#read(this.#decoder.write(chunk)));
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#printed = (this.#printed + chunk.toString()).slice(-500);
    });
    const over = (why: string): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      const last = this.lastLine;
      this.onerror?.(
        new ServiceLost(`The MCP server ${this.#name} ${why}${last === "" ? "" : `: ${last}`}`, undefined),
      );
      this.onclose?.();
    };
    child.once("exit", (code) => over(`ended with ${code ?? "a signal"}`));
    child.once("error", (error) => over(`could not be started: ${error.message}`));
  }

  get lastLine(): string {
    return this.#printed.trim().split("\n").at(-1) ?? "";
  }

  async send(message: unknown): Promise<void> {
    if (this.#isOver) throw new ServiceLost(`The MCP server ${this.#name} has ended.`, undefined);
    this.#service.child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#service.stop();
    await this.#service.remove();
    this.onclose?.();
  }

  #read(text: string): void {
    this.#text += text;
    if (this.#text.length > maxAnswerLength) {
      this.#text = "";
      this.onerror?.(new AnswerTooLong());
      void this.#service.stop();
      return;
    }
    const lines = this.#text.split("\n");
    this.#text = lines.pop() ?? "";
    for (const line of lines) {
      try {
        const message = parseJson(line, { maxBytes: maxAnswerLength }) as JsonObject;
        if (message["jsonrpc"] === "2.0") this.onmessage?.(message as never);
      } catch {
        // Servers print to their output by mistake.
      }
    }
  }
}
