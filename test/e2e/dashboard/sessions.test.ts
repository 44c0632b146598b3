import { expect, test } from "vitest";
import { focusedText, overflowOf } from "./support/browser.ts";
import { describeSeeded, visit, visitOwn } from "./support/seeded.ts";

describeSeeded("the list of sessions", () => {
  test("groups sessions by who needs you, what is active and what is finished", async () => {
    const { page } = await visit("/");
    await page
      .getByRole("row", { name: /parking-payments.*backend_developer failed the check api-tests/ })
      .waitFor();
    await page.getByRole("row", { name: /parking-1.*2 waiting/ }).waitFor();
    const groups = await page.locator(".group-line").allTextContents();
    expect(groups.map((text) => text.trim())).toEqual([
      "Needs you 5 · newest first",
      expect.stringMatching(/^Active \d · .*personas wait/),
      expect.stringMatching(/^Finished \d+ · newest first$/),
    ]);
    await page.getByText("Breaker openai: next probe in").waitFor();
    expect(await page.title()).toBe("5 need you · Sessions · Maestro");
  });

  test("moves through rows with j, k and Enter, and has one tab stop", async () => {
    const { page } = await visit("/");
    await page.locator(".session-line").first().waitFor();
    expect(await page.locator('.session-line[tabindex="0"]').count()).toBe(1);
    const keys = await page.locator(".session-line .session-key").allTextContents();
    const [first = "", second = ""] = keys;
    for (const [pressed, focused] of [
      ["j", first],
      ["j", second],
      ["k", first],
    ] as const) {
      await page.keyboard.press(pressed);
      await expect.poll(() => focusedText(page)).toContain(focused);
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: first }).waitFor();
  });

  test("keeps its filter in the address and offers to clear it when nothing matches", async () => {
    const { page } = await visit("/");
    await page.locator(".session-line").first().waitFor();
    await page.keyboard.press("/");
    const search = page.getByRole("searchbox");
    await expect.poll(() => page.evaluate("document.activeElement.type")).toBe("search");
    await page.keyboard.type("ledger");
    await page.waitForURL(/q=ledger/);
    await expect.poll(() => page.locator(".session-line").count()).toBe(1);
    await search.fill("no such thing");
    await page.getByText("No session matches.").waitFor();
    await page.getByRole("link", { name: "Clear filters" }).click();
    await page.getByText("parking-payments", { exact: true }).waitFor();
  });

  test("keeps rows still under the pointer and offers new sessions above them", async () => {
    const { page, server } = await visitOwn("/");
    await page.getByRole("row", { name: /parking-1.*2 waiting/ }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    const row = page.getByRole("row", { name: /tariff-engine/ });
    await row.hover();
    const before = await row.boundingBox();
    await server.post("/v1/sessions", { team: "tiles", brief: "Just started", key: "brand-new" });
    await page.getByRole("button", { name: "1 new" }).waitFor();
    const fresh = page.getByRole("link", { name: "brand-new" });
    expect(await fresh.count()).toBe(0);
    expect(await row.boundingBox()).toEqual(before);
    await page.getByRole("button", { name: "1 new" }).click();
    await fresh.waitFor();
  });

  test("updates a row in place and announces its new status", async () => {
    const { page, signal } = await visitOwn("/");
    const row = page.getByRole("row", { name: /release-notes-2026-11/ });
    await row.getByText("Running").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    signal("published");
    await expect
      .poll(() => page.locator('[role="status"]').first().textContent())
      .toContain("release-notes-2026-11: Completed.");
    await row.getByText("Completed").waitFor();
  });

  test("shows what is wrong with a start at its field, then opens the new session", async () => {
    const { page, changes } = await visitOwn("/");
    await page.locator(".session-line").first().waitFor();
    await page.keyboard.press("n");
    const brief = page.getByRole("textbox", { name: "Brief" });
    await brief.waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.dataset.field")).toBe("brief");
    const start = page.getByRole("button", { name: "Start", exact: true });
    await start.click();
    const panel = page.getByRole("dialog", { name: "Start a session" });
    await panel.locator('[data-field="brief"][aria-invalid="true"]').waitFor();
    expect(changes).toEqual([]);
    await brief.fill("A new thing in EUR");
    await panel.getByRole("combobox", { name: "Team" }).selectOption("delivery");
    await page.getByRole("textbox", { name: "Key" }).fill("tariff-engine");
    await start.click();
    await panel.locator('[aria-invalid="true"]').waitFor();
    expect(await brief.inputValue()).toBe("A new thing in EUR");
    await page.getByRole("textbox", { name: "Key" }).fill("a-new-thing");
    await page.getByRole("textbox", { name: "Budget in dollars" }).fill("5");
    await start.click();
    await page.waitForURL(/\/s\/a-new-thing/);
    expect(changes.at(-1)?.body).toEqual({
      team: "delivery",
      brief: "A new thing in EUR",
      key: "a-new-thing",
      budget: { usd: 5 },
    });
  });

  test("shows still skeletons while it loads and says so after 5 s", async () => {
    let answer = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { page } = await visit("/", {
      before: async (page) => {
        await page.clock.install();
        await page.route("**/v1/sessions?**", async (route) => {
          await isAsked;
          await route.continue();
        });
      },
    });
    await page.clock.fastForward(200);
    await page.locator(".skeleton-row").first().waitFor();
    await page.clock.fastForward(5000);
    await page.getByText("Still loading. The server has not answered for 5 s.").waitFor();
    answer();
    await page.locator(".session-line").first().waitFor();
  });

  test("finds sessions and commands from every page with Ctrl K", async () => {
    const { page } = await visit("/usage");
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.type("ledger");
    await page.getByRole("option", { name: /ledger-migration/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/s\/ledger-migration/);
  });

  test.each([390, 320])("fits a window of %d pixels without scrolling sideways", async (width) => {
    const { page } = await visit("/", { width, height: 844 });
    await page.locator(".session-line").first().waitFor();
    expect(await overflowOf(page)).toBe(0);
    const box = await page.locator(".session-line").first().boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
  });

  test("remembers the chosen theme", async () => {
    const { page } = await visit("/", { dark: true });
    const theme = () => page.evaluate<string>("document.documentElement.dataset.theme");
    expect(await theme()).toBe("dark");
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("menuitem", { name: "Use the light theme" }).click();
    await page.reload();
    expect(await theme()).toBe("light");
  });
});
