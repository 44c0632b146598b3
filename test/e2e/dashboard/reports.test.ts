import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newPlace, serve, visitServer } from "./support/real.ts";
import { describeSeeded, visit, visitOwn } from "./support/seeded.ts";

describeSeeded("reports on all sessions", () => {
  test("shows breakers with their waiting personas and a reset that asks first, tickets, queue and disk", async () => {
    const { page, changes, faults } = await visitOwn("/health");
    const breakers = page.getByRole("region", { name: "Breakers" });
    const openai = breakers.getByRole("article").filter({ hasText: "openai" });
    await openai.getByText("Open", { exact: true }).waitFor();
    await openai.getByText(/probe in \d+:\d\d/).waitFor();
    await openai.getByRole("link", { name: "parking-1 / security_specialist" }).waitFor();
    const before = await openai.locator(".probe b").textContent();
    await expect.poll(() => openai.locator(".probe b").textContent(), { timeout: 15_000 }).not.toBe(before);
    await openai.getByRole("button", { name: "Reset…" }).click();
    const dialog = page.getByRole("dialog", { name: "Reset the breaker openai" });
    await dialog.getByText(/5 outages in a row/).waitFor();
    expect(changes).toEqual([]);
    await dialog.getByRole("button", { name: "Reset", exact: true }).click();
    await expect.poll(() => changes.map(({ path }) => path)).toEqual(["/v1/breakers/openai/reset"]);
    const tickets = page.getByRole("region", { name: "Tickets", exact: true });
    await tickets
      .getByRole("row", { name: /Delivered maestro-[0-9a-f]{16}/ })
      .first()
      .waitFor();
    await page.getByText(/\d+ of 8 places in use, \d+ sessions? waiting/).waitFor();
    await page.getByText(/[\d.]+ .B free of [\d.]+ .B; state takes [\d.]+ .B/).waitFor();
    expect(faults).toEqual([]);
  });

  test("shows usage by persona, phase and model, with budgets, savings, forecasts and alerts", async () => {
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
    await budgets.getByRole("link", { name: "ledger-migration" }).waitFor();
    for (const saved of [/^Resume:/, /^Reuse:/, /^Cache:/, /^Patches:/])
      await page.getByRole("region", { name: "Saved" }).getByText(saved).waitFor();
    const forecasts = page.getByRole("region", { name: "Forecast against actual" });
    await forecasts.getByRole("row", { name: /ledger-migration \$[\d.]+.*so far/ }).waitFor();
    await forecasts.getByRole("row", { name: /garage-map/ }).waitFor();
    await page.getByRole("region", { name: "Alerts" }).getByRole("listitem").first().waitFor();
    expect(faults).toEqual([]);
  });

  test("verifies checkpoints again when asked and finds a damaged one", async () => {
    const place = newPlace();
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    const { id } = await server.post<{ id: string }>("/v1/sessions", {
      team: "helpless",
      brief: "/nowhere",
      key: "k",
    });
    await page.getByRole("row", { name: /importer needs help: The city's price list is missing/ }).waitFor();
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
