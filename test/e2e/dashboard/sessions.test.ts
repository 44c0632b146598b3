import { expect, test, vi } from "vitest";
import { rowOf, usage, view } from "../../../dashboard/fixture/build.ts";
import { describeInBrowser, focusedText, overflowOf, visit } from "./support/browser.ts";

const running = { kind: "running", phases: [], latest: null, held: [], driverDied: false } as const;
const fresh = (key: string) =>
  view({
    key,
    brief: "Just started",
    team: "product",
    status: "running",
    situation: running,
    usage: usage(0),
    createdAt: new Date().toISOString(),
    since: new Date().toISOString(),
    updatedAt: new Date().toISOString(),
  });

describeInBrowser("the list of sessions", () => {
  test("answers who needs you, what runs and how the rest ended, in that order", async () => {
    const { page } = await visit("/");
    await page.getByRole("row", { name: /parking-payments.*backend_developer: api-tests failed/ }).waitFor();
    const groups = await page.locator(".group-line").allTextContents();
    expect(groups.map((text) => text.trim())).toEqual([
      "Needs you 4 · newest first",
      "Active 9 · 8 personas wait, all go on by themselves",
      expect.stringMatching(/^Finished \d+ · newest first$/),
    ]);
    await page.getByText(/2 waiting · backend_developer writes/).waitFor();
    await page.getByText("Breaker openai: next probe in").waitFor();
    expect(await page.title()).toBe("4 need you · Sessions · Maestro");
  });

  test("is walked with j, k and Enter, with one tab stop", async () => {
    const { page } = await visit("/");
    await page.locator(".session-line").first().waitFor();
    expect(await page.locator('.session-line[tabindex="0"]').count()).toBe(1);
    await page.keyboard.press("j");
    await vi.waitUntil(async () => (await focusedText(page)).includes("parking-payments"));
    await page.keyboard.press("j");
    await vi.waitUntil(async () => (await focusedText(page)).includes("onboarding-copy"));
    await page.keyboard.press("k");
    await vi.waitUntil(async () => (await focusedText(page)).includes("parking-payments"));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /could not pass the check api-tests/ }).waitFor();
  });

  test("filters into the address, and an empty answer offers the way back", async () => {
    const { page } = await visit("/");
    await page.locator(".session-line").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("ledger");
    await page.waitForURL(/q=ledger/);
    await vi.waitUntil(async () => (await page.locator(".session-line").count()) === 1);
    await page.getByRole("searchbox").fill("no such thing");
    await page.getByText("No session matches.").waitFor();
    await page.getByRole("link", { name: "Clear filters" }).click();
    await expect.poll(() => page.getByText("parking-payments", { exact: true }).isVisible()).toBe(true);
  });

  test("holds 10,000 sessions: the end is reached, few rows exist, Back returns to the place", async () => {
    const { page } = await visit("/", { sessions: 10_000 });
    await page.locator(".session-line").first().waitFor();
    await page.evaluate("document.querySelector('.grid-scroll').scrollTo(0, 1e9)");
    await vi.waitUntil(async () => (await page.getByText(/-9979$/).count()) > 0, { timeout: 20_000 });
    expect(await page.locator(".session-line").count()).toBeLessThan(80);
    const before = await page.evaluate<number>("document.querySelector('.grid-scroll').scrollTop");
    expect(before).toBeGreaterThan(300_000);
    await page.locator(".session-line").last().click();
    await page.locator(".session-head").waitFor();
    await page.goBack();
    await vi.waitUntil(
      async () => (await page.evaluate("document.querySelector('.grid-scroll')?.scrollTop")) === before,
    );
  });

  test("does not move under the pointer: what is new waits above until it is asked for", async () => {
    const { page, fixture } = await visit("/");
    const row = page.getByRole("row", { name: /search-relevance/ });
    await row.hover();
    const before = await row.boundingBox();
    await vi.waitUntil(() => fixture.hub.watching === 1);
    fixture.addSession(fresh("brand-new"));
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await page.getByText("brand-new").count()).toBe(0);
    expect(await row.boundingBox()).toEqual(before);
    await page.getByRole("button", { name: "1 new" }).click();
    await page.getByText("brand-new").waitFor();
  });

  test("a row that changes changes in place, and a stop is announced", async () => {
    const { page, fixture } = await visit("/");
    await page.getByText("search-relevance").waitFor();
    await vi.waitUntil(() => fixture.hub.watching === 1);
    const session = [...fixture.world.sessions.values()].find(({ key }) => key === "search-relevance");
    if (session === undefined) throw new Error("no such session");
    const now = new Date(Date.now() + 1000).toISOString();
    fixture.hub.tellRow({ ...rowOf(session), updatedAt: now, usage: usage(9.99) });
    await expect.poll(() => page.getByText("$9.99").isVisible()).toBe(true);
    fixture.hub.tellRow({
      ...rowOf(session),
      updatedAt: now,
      status: "failed",
      situation: { kind: "failed", phase: null, message: "x", gate: null, acceptChanges: false },
    });
    await vi.waitUntil(
      async () =>
        (await page.locator('[role="status"]').first().textContent()) === "search-relevance: Failed.",
    );
  });

  test("says at the field what is wrong with a start, and opens what was started", async () => {
    const { page, fixture } = await visit("/");
    await page.locator(".session-line").first().waitFor();
    await page.keyboard.press("n");
    const brief = page.getByRole("textbox", { name: "Brief" });
    await brief.waitFor();
    await vi.waitUntil(async () =>
      page.evaluate<boolean>("document.activeElement.matches('[data-field=brief]')"),
    );
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("Say what is to be done.").waitFor();
    expect(fixture.received).toEqual([]);
    await brief.fill("A new thing");
    await page.getByRole("textbox", { name: "Key" }).fill("parking-1");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("parking-1 is taken by another brief.").waitFor();
    expect(await brief.inputValue()).toBe("A new thing");
    await page.getByRole("textbox", { name: "Key" }).fill("a-new-thing");
    await page.getByRole("textbox", { name: "Budget in dollars" }).fill("5");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/s\/a-new-thing/);
    expect(fixture.received.at(-1)?.body).toEqual({
      team: "software-delivery",
      brief: "A new thing",
      key: "a-new-thing",
      budget: { usd: 5 },
    });
  });

  test("an empty server explains what a session is", async () => {
    const { page } = await visit("/", { sessions: 0 });
    await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
    await expect.poll(() => page.getByText("maestro demo").isVisible()).toBe(true);
  });

  test("waits quietly, says so after 5 s, and tells an error with its code", async () => {
    const { page, fixture } = await visit("/", {
      fresh: true,
      before: async (page, fixture) => {
        await page.clock.install();
        fixture.faults.push({ path: "/v1/sessions", delayMs: 2000 });
      },
    });
    await page.clock.fastForward(200);
    await page.locator(".skeleton-row").first().waitFor();
    await page.clock.fastForward(5000);
    await page.getByText("Still loading. The server has not answered for 5 s.").waitFor();
    await page.locator(".session-line").first().waitFor();
    fixture.faults.splice(0, 1, {
      path: "/v1/sessions",
      problem: {
        status: 500,
        code: "STATE_CORRUPT",
        detail: "The database file is damaged.",
        advice: "Run maestro doctor.",
      },
    });
    await page.reload();
    await page.getByText("The database file is damaged.").waitFor();
    await page.getByText("Run maestro doctor.").waitFor();
    await page.getByText("500 STATE_CORRUPT").waitFor();
    await expect.poll(() => page.getByText("req_8f2c1").isVisible()).toBe(true);
  });

  test("finds sessions and commands from anywhere with Ctrl K", async () => {
    const { page } = await visit("/usage");
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.type("ledger");
    await expect.poll(() => page.getByRole("option", { name: /ledger-migration/ }).isVisible()).toBe(true);
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

  test("keeps the theme that was chosen", async () => {
    const { page } = await visit("/", { dark: true, fresh: true });
    const theme = () => page.evaluate<string>("document.documentElement.dataset.theme");
    expect(await theme()).toBe("dark");
    await page.getByRole("button", { name: "Use the light theme" }).click();
    await page.reload();
    expect(await theme()).toBe("light");
  });
});
