import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createServer } from "vite";
import { seed } from "./seed.ts";
import { serverArguments, serverSettings } from "./settings.ts";

// `npm run dashboard`: the page as it is edited, on a real server with a seeded state directory.
const root = join(import.meta.dirname, "../..");
const token = "only-for-this-development-server";
const port = 4162;
const folder = mkdtempSync(join(tmpdir(), "maestro-dashboard-"));
const stateDir = join(folder, "state");
process.stdout.write("Seeding sessions…\n");
await seed(stateDir);
const server = spawn(
  process.execPath,
  [
    join(root, "bin/maestro.cjs"),
    "serve",
    "--json",
    "--port",
    "0",
    "--state-dir",
    stateDir,
    ...serverArguments,
  ],
  {
    cwd: folder,
    env: {
      ...process.env,
      ...serverSettings,
      MAESTRO_API_TOKEN: token,
      MAESTRO_SERVER_PUBLIC_URL: `http://localhost:${port}`,
    },
    stdio: ["ignore", "pipe", "inherit"],
  },
);
server.once("exit", () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal));
const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
const { url } = JSON.parse(line) as { readonly url: string };
const vite = await createServer({
  configFile: join(root, "dashboard/vite.config.ts"),
  server: {
    port,
    strictPort: true,
    proxy: { "/v1": { target: url, headers: { authorization: `Bearer ${token}` } } },
  },
});
await vite.listen();
process.stdout.write(`Seeded sessions; the page reloads as you edit it: http://localhost:${port}\n`);
