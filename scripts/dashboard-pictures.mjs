// Takes the pictures of the dashboard in docs/images from runs of the demo's team on a real server, which is killed once.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stateDir = mkdtempSync(join(tmpdir(), "maestro-pictures-"));
const token = "only-while-pictures-are-taken-0123456789";
const brief = "A URL shortener with tests";

async function serve(port) {
  const command = join(root, "bin", "maestro.cjs");
  const team = join(root, "teams", "demo", "team.yaml");
  const child = spawn(
    process.execPath,
    [command, "serve", "--json", "--port", String(port), "--state-dir", stateDir, "--team", team],
    {
      cwd: stateDir,
      env: {
        ...process.env,
        MAESTRO_API_TOKEN: token,
        MAESTRO_SIMULATED_SCRIPT: join(root, "teams", "demo", "script.yaml"),
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, exited: once(child, "exit"), ...JSON.parse(line) };
}

async function start(server, body) {
  const response = await fetch(`${server.url}/v1/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ team: "demo", brief, ...body }),
  });
  if (!response.ok) throw new Error(await response.text());
}

let server = await serve(0);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 860 },
    reducedMotion: "reduce",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const picture = (name) => page.screenshot({ path: join(root, "docs", "images", `${name}.png`) });
  const wear = (theme) => page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
  await page.goto(server.dashboard);

  await start(server, { key: "url-shortener" });
  await page.goto(`${server.url}/s/url-shortener/run?persona=implementation/backend_developer`);
  const steps = page.getByRole("log", { name: "Steps" });
  // The call for the third file takes longest, so there is time for the picture and the kill.
  await steps.getByText("src/store.mjs").first().waitFor();
  await page.getByText("1 of 2 done").first().waitFor();
  await wear("dark");
  await picture("dashboard-live");
  server.child.kill("SIGKILL");
  await server.exited;
  server = await serve(new URL(server.url).port);
  await page.getByText("Completed.", { exact: true }).waitFor();
  // Loaded again, because the page shows a temporary notice about the restart.
  await page.goto(`${server.url}/s/url-shortener/run?persona=implementation/backend_developer`);
  await steps.getByText("src/server.mjs").first().waitFor();
  await wear("light");
  await picture("dashboard");

  await start(server, { key: "reviewed-design", pauseAfter: ["design"] });
  await page.goto(`${server.url}/s/reviewed-design`);
  await page.locator(".review .diff-line").first().waitFor();
  await picture("dashboard-review");
} finally {
  await browser.close();
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(stateDir, { recursive: true, force: true });
}
