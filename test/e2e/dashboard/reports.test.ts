import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { describeInBrowser, visit } from "./support/browser.ts";
import { newPlace, serve, visitServer } from "./support/real.ts";

describeInBrowser("what is told of the whole", () => {
  test("health: who fails and who waits for it, when it is tried again, a reset that asks first, tickets, queue and disk", async () => {
    const { page, fixture, faults } = await visit("/health");
    const breakers = page.getByRole("region", { name: "Breakers" });
    const openai = breakers.getByRole("article").filter({ hasText: "openai" });
    await openai.getByText("Open", { exact: true }).waitFor();
    await openai.getByText(/probe in \d+:\d\d/).waitFor();
    await openai.getByRole("link", { name: "parking-1 / security_specialist" }).waitFor();
    const before = await openai.locator(".probe b").textContent();
    await expect.poll(() => openai.locator(".probe b").textContent(), { timeout: 5_000 }).not.toBe(before);
    await breakers.getByText("2 of 5 outages in a row").waitFor();
    await openai.getByRole("button", { name: "Reset…" }).click();
    const dialog = page.getByRole("dialog", { name: "Reset the breaker openai" });
    await dialog.getByText("5 outages in a row open it again.").waitFor();
    expect(fixture.received).toEqual([]);
    await dialog.getByRole("button", { name: "Reset", exact: true }).click();
    await vi.waitUntil(() => fixture.received.some(({ path }) => path === "/v1/breakers/openai/reset"));
    const tickets = page.getByRole("region", { name: "Tickets", exact: true });
    await tickets.getByRole("row", { name: /Delivered OPS-412/ }).waitFor();
    await tickets.getByRole("row", { name: /Retrying.*3 failures/ }).waitFor();
    await tickets.getByRole("row", { name: /semgrep does not answer all that wait for it/ }).waitFor();
    await page.getByText(/\d+ of 8 places in use, \d+ sessions? waiting/).waitFor();
    await page.getByText("212 GB free of 480 GB; state takes 1.8 GB").waitFor();
    expect(faults).toEqual([]);
  });

  test("usage: by persona, phase and model, in dollars and tokens, with budgets, savings, forecasts and alerts", async () => {
    const { page, faults } = await visit("/usage");
    await page.locator(".uplot").waitFor();
    const table = page.getByRole("region", { name: "Table of usage" });
    for (const by of ["Phase", "Model", "Persona"]) {
      await page.getByRole("button", { name: by, exact: true }).click();
      await table.getByRole("columnheader", { name: by, exact: true }).waitFor();
      await expect.poll(() => table.getByRole("row").count()).toBeGreaterThan(2);
    }
    await page.getByRole("button", { name: "Tokens", exact: true }).click();
    await page.waitForURL(/unit=tokens/);
    const budgets = page.getByRole("region", { name: "Budgets" });
    await budgets.getByText("$40.80").waitFor();
    await budgets.getByRole("link", { name: "ledger-migration" }).waitFor();
    for (const saved of [/^Resume:/, /^Reuse:/, /^Cache:/, /^Patches:/])
      await page.getByRole("region", { name: "Saved" }).getByText(saved).waitFor();
    const forecasts = page.getByRole("region", { name: "Forecast against actual" });
    await forecasts.getByRole("row", { name: "parking-1 $5.10 to 8.40 $3.42 so far" }).waitFor();
    await forecasts.getByRole("row", { name: "zone-editor $5.00 to 8.00 $9.32 over" }).waitFor();
    await page.getByRole("region", { name: "Alerts" }).getByText("today: 68 % of $60.00 is spent").waitFor();
    expect(faults).toEqual([]);
  });

  test("checkpoints: each against its seal, again when asked, and a damaged one is found", async () => {
    const place = newPlace();
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    const { id } = await server.post<{ id: string }>("/v1/sessions", {
      team: "helpless",
      brief: "/nowhere",
      key: "k",
    });
    await page.getByRole("row", { name: /importer: The city's price list is missing/ }).waitFor();
    await page.goto(`${server.url}/s/k/checkpoints`);
    const row = page.getByRole("row", { name: /^plan/ });
    await row.getByText("Valid").waitFor();
    await row.getByRole("button", { name: "Resume from here" }).click();
    await page
      .getByRole("dialog", { name: "Resume k" })
      .getByRole("row", { name: /Run import: importer/ })
      .waitFor();
    await page.keyboard.press("Escape");
    const folder = join(place.stateDir, "sessions", id);
    const file = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((name) =>
      /plan.*\.json$/.test(name),
    );
    const path = join(folder, file ?? "");
    writeFileSync(path, readFileSync(path, "utf8").replace("import the prices", "import the pieces"));
    await page.getByRole("button", { name: "Verify" }).click();
    await row.getByText("Damaged").waitFor();
    await page
      .getByText(/Resume would start at init, sealed \d\d:\d\d and valid; plan would run again/)
      .waitFor();
    expect(faults).toEqual([]);
  });
});
