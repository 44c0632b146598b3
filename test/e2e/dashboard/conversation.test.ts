import { mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { axe, axeSource, everyRule } from "./support/axe.ts";
import { describeInBrowser, overflowOf } from "./support/browser.ts";
import { newPlace, serve, visitServer } from "./support/real.ts";

/** Set to look at the pages. */
const pictures = process.env["DASHBOARD_SHOTS"];

describeInBrowser("the conversation of a persona", () => {
  test("shows prompts, answers, tools and whole outputs of checks, for each attempt", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "talking", brief: "Parking in Bern.", key: "talk" });
    await page.goto(`${server.url}/s/talk/run?persona=text/writer&show=conversation`);
    const talk = page.getByRole("region", { name: "Conversation" });
    await talk.getByText("Attempt failed").waitFor();
    const options = talk.getByRole("combobox", { name: "Attempt" }).locator("option");
    await expect.poll(() => options.count()).toBeGreaterThan(1);
    await talk.getByRole("combobox", { name: "Attempt" }).selectOption("Attempt 1, failed");
    await page.waitForURL(/attempt=r1a1/);
    await talk.getByRole("button", { name: "Show the prompt" }).click();
    await talk.getByText("You are writer in phase text.").waitFor();
    await talk.getByText("(simulated) Writing what the contract asks for.").waitFor();
    await talk.getByRole("button", { name: "→ write_file" }).click();
    await talk.getByText('"path": "page.md"').waitFor();
    // A failed check is open. Markup in its output is text.
    await talk.getByRole("button", { name: /Show all 25\d lines/ }).click();
    await talk.locator(".talk-item.check pre", { hasText: "<b>the last line</b>" }).waitFor();

    await talk.getByRole("searchbox", { name: "Search the conversation" }).fill("and your outputs");
    await talk.getByText(/^1 of \d+ items$/).waitFor();
    expect(await talk.locator(".talk-item").count()).toBe(1);
    await talk.getByRole("searchbox", { name: "Search the conversation" }).fill("");
    const link = talk.getByRole("link", { name: /^Link to step/ }).last();
    const address = new URL((await link.getAttribute("href")) ?? "", server.url).href;
    await page.goto(address);
    await page.reload();
    await page.locator(".talk-item.linked").first().waitFor();

    await page.evaluate(axeSource);
    const found = await axe(page, everyRule);
    await page.evaluate("document.documentElement.dataset.theme = 'dark'");
    found.push(...(await axe(page, "['color-contrast']")));
    for (const width of [2560, 1440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      if (width < 1100) await page.goto(address);
      await page.locator(".talk-item").first().waitFor();
      const overflow = await overflowOf(page);
      if (overflow > 0) found.push(`wider than ${width} px by ${overflow}`);
      if (pictures === undefined) continue;
      mkdirSync(pictures, { recursive: true });
      for (const theme of ["light", "dark"]) {
        await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
        await page.screenshot({ path: `${pictures}/conversation-${width}-${theme}.png` });
      }
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("has the note of a person who resumes a session that needs help", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "talking", brief: "Parking in Bern.", key: "helped" });
    await page.goto(`${server.url}/s/helped`);
    await page.getByRole("button", { name: "Resume with a note…" }).click();
    const panel = page.getByRole("dialog", { name: "Resume helped" });
    await panel.getByRole("textbox", { name: "Note" }).fill("The page may be short.");
    await panel.getByText("--note 'The page may be short.'").waitFor();
    await panel.getByRole("button", { name: /^Resume/ }).click();
    await panel.waitFor({ state: "detached" });
    await page.goto(`${server.url}/s/helped/run?persona=text/writer&show=conversation`);
    const talk = page.getByRole("region", { name: "Conversation" });
    await talk.locator(".talk-item.person", { hasText: "The page may be short." }).waitFor();
    expect(faults).toEqual([]);
  });
});
