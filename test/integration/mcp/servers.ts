import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

const folder = join(import.meta.dirname, "servers");

/** The program of a server from npm, installed by this suite alone. */
export function serverProgram(name: string): string {
  if (!existsSync(join(folder, "node_modules")))
    execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: folder, stdio: "ignore" });
  return join(folder, "node_modules", ".bin", `mcp-server-${name}`);
}

/** The server "everything" over streamable HTTP, behind an address that counts the calls it sees. */
export async function httpServer() {
  const upstream = createServer();
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  await new Promise<void>((resolve) => upstream.close(() => resolve()));
  const child = spawn(process.execPath, [serverProgram("everything"), "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const calls: string[] = [];
  const headers: (string | undefined)[] = [];
  const front = createServer((incoming, outgoing) => {
    headers.push(incoming.headers.authorization);
    let body = "";
    incoming.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    incoming.on("end", () => {
      if (body.includes('"tools/call"')) calls.push(body);
      const { host: _, ...kept } = incoming.headers;
      const onward = request(
        { port, host: "127.0.0.1", path: incoming.url, method: incoming.method, headers: kept },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        },
      );
      onward.on("error", () => outgoing.writeHead(502).end());
      outgoing.on("close", () => onward.destroy());
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  await new Promise<void>((resolve, reject) => {
    const heard = (chunk: Buffer): void => {
      if (/listening/i.test(chunk.toString())) resolve();
    };
    child.stdout.on("data", heard);
    child.stderr.on("data", heard);
    child.once("exit", () => reject(new Error("the server ended")));
  });
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`,
    calls,
    headers,
    stop: () => {
      child.removeAllListeners("exit");
      child.kill("SIGKILL");
      front.closeAllConnections();
      front.close();
    },
  };
}
