import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { type CommandResult, runCommand } from "../../../src/workspace/command.ts";
import type { NetworkReach } from "../../../src/workspace/network/host-list.ts";
import { NetworkProxy } from "../../../src/workspace/network/proxy.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const hello = (): Promise<number> => serve((asked, answer) => answer.end(`hello ${asked.url}`));

/** Runs Node in a sandbox that reaches these hosts only. */
const confined = (reach: NetworkReach, script: string): Promise<CommandResult> =>
  runCommand({
    argv: [process.execPath, "-e", script],
    directory: temporaryDirectory(),
    timeoutMs: 60_000,
    maxOutputBytes: 10_000,
    signal: new AbortController().signal,
    network: { reach },
    writable: "workspace",
  });

const get = (url: string): string =>
  `fetch(${JSON.stringify(url)}).then(async (got) => console.log(got.status, await got.text()))
    .catch((error) => console.log("failed", error.cause?.message ?? error.message))`;

test("a program in the sandbox reaches a listed address and no other port of this machine", async () => {
  const [listed, other] = [await hello(), await hello()];
  const reach = [`127.0.0.1:${listed}`];
  const found = await confined(reach, get(`http://127.0.0.1:${listed}/x`));
  expect(found).toMatchObject({ kind: "exited", code: 0, stdout: "200 hello /x\n" });
  const refused = await confined(reach, get(`http://127.0.0.1:${other}/`));
  expect(refused).toMatchObject({
    stdout: expect.stringMatching(/^(?:403|failed)/) as string,
    refused: [`127.0.0.1:${other} is not in the list of hosts`],
  });
});

test("a request names the host that was checked to its server, and a refusal is in the body too", async () => {
  const port = await serve((asked, answer) => answer.end(`for ${asked.headers.host}`));
  const socket = join(temporaryDirectory(), "socket");
  await using proxy = await NetworkProxy.listen({ socket, reach: [`127.0.0.1:${port}`] });
  const { request } = await import("node:http");
  const ask = async (path: string): Promise<string> => {
    const asked = request({ socketPath: socket, path, headers: { host: "inner.example" } }).end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return text(answer);
  };
  expect(await ask(`http://127.0.0.1:${port}/`)).toBe(`for 127.0.0.1:${port}`);
  expect(await ask("http://other.example/")).toBe(
    "Maestro refused: other.example:80 is not in the list of hosts\n",
  );
  expect(proxy.refused).toHaveLength(1);
});

test("a redirect to a host that is not listed is refused", async () => {
  const secret = await hello();
  const redirecting = await serve((_, answer) =>
    answer.writeHead(302, { location: `http://127.0.0.1:${secret}/` }).end(),
  );
  const result = await confined([`127.0.0.1:${redirecting}`], get(`http://127.0.0.1:${redirecting}/`));
  expect(result).toMatchObject({ stdout: expect.not.stringContaining("hello") as string });
  expect(result).toMatchObject({ refused: [`127.0.0.1:${secret} is not in the list of hosts`] });
});

test("every public host does not include this machine", async () => {
  const port = await hello();
  const result = await confined(true, get(`http://127.0.0.1:${port}/`));
  expect(result).toMatchObject({
    stdout: expect.not.stringContaining("hello") as string,
    refused: [`127.0.0.1:${port} is an address of this machine or its network`],
  });
});

test("a program that ignores the proxy has no network", async () => {
  const port = await hello();
  const script = `require("net").connect(${port}, "127.0.0.1").on("error", (error) => console.log(error.code)).on("connect", () => console.log("connected"))`;
  const result = await confined([`127.0.0.1:${port}`], script);
  expect(result).toMatchObject({ stdout: "ECONNREFUSED\n" });
});

test("the exit code of a program behind the proxy is its own, and a missing program is not started", async () => {
  expect(await confined(true, "process.exit(7)")).toMatchObject({ kind: "exited", code: 7 });
  const missing = await runCommand({
    argv: ["no-such-program"],
    directory: temporaryDirectory(),
    timeoutMs: 60_000,
    maxOutputBytes: 10_000,
    signal: new AbortController().signal,
    network: { reach: true },
    writable: "workspace",
  });
  expect(missing).toMatchObject({ kind: "not-started", reason: "no-such-program is not installed" });
});

test("a listed name is connected at the address that was checked, and not when it points at this machine", async () => {
  const port = await hello();
  const socket = join(temporaryDirectory(), "socket");
  await using proxy = await NetworkProxy.listen({
    socket,
    reach: ["rebound.example"],
    resolve: async () => ["127.0.0.1"],
  });
  const { request } = await import("node:http");
  const asked = request({ socketPath: socket, method: "CONNECT", path: `rebound.example:${port}` }).end();
  const [answer] = (await once(asked, "connect")) as [{ statusCode: number }];
  expect(answer.statusCode).toBe(403);
  expect(proxy.refused).toEqual([`rebound.example:${port} is an address of this machine or its network`]);
});
