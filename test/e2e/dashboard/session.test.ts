import { expect, test, vi } from "vitest";
import { nextEntry } from "../../../dashboard/fixture/journal.ts";
import { findSession } from "../../../dashboard/fixture/world.ts";
import { describeInBrowser, overflowOf, visit } from "./support/browser.ts";

describeInBrowser("a running session", () => {
  test("is told in a sentence, a graph that is a list, lanes and a journal", async () => {
    const { page } = await visit("/s/parking-1");
    await page.getByText("2 personas wait; both go on by themselves. Nothing needs you.").waitFor();
    const phases = page.getByRole("region", { name: "Phases" }).getByRole("listitem");
    expect(await phases.count()).toBe(5);
    await page
      .getByRole("row", { name: /frontend_developer.*Retries (in \d+ s|now)\. typecheck failed/ })
      .waitFor();
    await page.getByRole("row", { name: /security_specialist.*Waits for openai\./ }).waitFor();
    await page.getByText("taken over after an unclean end, lease epoch 2").waitFor();
    expect(await page.title()).toBe("Running · parking-1");
  });

  test("follows the text of the persona at work, and stops following when somebody scrolls up", async () => {
    const { page, fixture } = await visit("/s/parking-1/run");
    const id = findSession(fixture.world, "parking-1")?.id ?? "";
    const place = { phase: "implementation", persona: "backend_developer" };
    const text = (delta: string) =>
      fixture.hub.tellText(id, "text", {
        ...place,
        delta,
        call: "model#9",
        outputTokens: 4,
        startedAt: new Date().toISOString(),
      });
    await page.getByText("Following", { exact: true }).waitFor();
    await vi.waitUntil(() => fixture.hub.connections >= 1);
    await vi.waitUntil(async () => {
      text("and so it ends ");
      return (await page.getByText(/and so it ends/).count()) > 0;
    });
    await page.evaluate("document.querySelector('[role=log]').scrollTo(0, 0)");
    await page.getByRole("button", { name: "To the end" }).waitFor();
    for (const seq of [9001, 9002])
      fixture.hub.tellText(id, "step", {
        ...place,
        block: { kind: "text", seq, at: new Date().toISOString(), text: `recorded ${seq}` },
      });
    await page.getByRole("button", { name: "2 new" }).click();
    await page.getByText("recorded 9002").waitFor();
    expect(await page.getByText(/and so it ends/).count()).toBe(0);
  });

  test("shows what happens as it happens, and only that: money, entries, status", async () => {
    const { page, fixture } = await visit("/s/parking-1/run");
    await page.getByText("1,487 entries, chain verified").waitFor();
    await vi.waitUntil(() => fixture.hub.watching === 1);
    fixture.hub.tellEntry("parking-1", nextEntry(1488));
    fixture.update("parking-1", { session: { reservedUsd: 1.23 } });
    await page.getByText("#1488", { exact: true }).waitFor();
    await page.getByText("+ $1.23 reserved").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    const dialog = page.getByRole("dialog", { name: "Pause parking-1" });
    await dialog.getByRole("button", { name: "Pause", exact: true }).click();
    await page.locator(".pending-line", { hasText: "Pausing…" }).waitFor();
    await page.getByText("Paused after design, by a person.").waitFor();
    expect(await page.locator(".pending-line", { hasText: "Pausing…" }).count()).toBe(0);
  });

  test("while the connection is lost: past tense, nothing can be pressed; back without a gap", async () => {
    const { page, fixture } = await visit("/s/parking-1/run");
    await page.getByText("1,487 entries, chain verified").waitFor();
    await vi.waitUntil(() => fixture.hub.watching === 1);
    fixture.cut();
    await page.getByText(/Connection lost at \d\d:\d\d:\d\d\./).waitFor();
    await page.getByText("was writing").waitFor();
    await page.getByText("was waiting for openai").waitFor();
    expect(await page.getByRole("button", { name: /^Fork…/ }).getAttribute("aria-disabled")).toBe("true");
    for (const seq of [1488, 1489, 1490]) fixture.hub.tellEntry("parking-1", nextEntry(seq));
    fixture.allow();
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByText("Back. 3 events caught up, none missed.").waitFor();
    await page.getByText("#1490", { exact: true }).waitFor();
    expect(await page.getByText("#1489", { exact: true }).count()).toBe(1);
    await page.getByRole("row", { name: /backend_developer.*writes/ }).waitFor();
  });

  test("a restarted server is noticed and everything is read again", async () => {
    const { page, fixture } = await visit("/s/parking-1/run");
    await page.getByText("1,487 entries, chain verified").waitFor();
    await vi.waitUntil(() => fixture.hub.watching === 1);
    fixture.cut();
    await page.getByText(/Connection lost/).waitFor();
    fixture.world.instance = "fixture-2";
    fixture.allow();
    await page.getByRole("button", { name: "Try now" }).click();
    await expect.poll(() => page.getByText("The server restarted.").isVisible()).toBe(true);
  });

  test("1,000 personas are squares with failures first; counts are filters; few lanes exist", async () => {
    const { page } = await visit("/s/translation-all");
    await page.getByText("3 failed").waitFor();
    expect(await page.locator(".squares rect, .squares path.square-held").count()).toBeGreaterThanOrEqual(
      1000,
    );
    expect(await page.locator(".persona-lane").count()).toBe(3);
    const started = Date.now();
    await page.getByRole("button", { name: /completed/ }).click();
    await page.getByRole("row", { name: /translator_0001/ }).waitFor();
    expect(Date.now() - started).toBeLessThan(5000);
    expect(await page.locator(".persona-lane").count()).toBeLessThan(60);
    await page.evaluate("document.querySelector('.timeline-scroll').scrollTo(0, 1e9)");
    await page.getByRole("row", { name: /translator_0821/ }).waitFor();
  });

  test("the timeline is walked with arrows, folds with left and right, and has its table", async () => {
    const { page } = await visit("/s/parking-1/run");
    await page
      .getByRole("row", { name: /^implementation|implementation 2 of 5/ })
      .first()
      .waitFor();
    const selected = page.locator('.lane[aria-selected="true"]');
    expect(await selected.textContent()).toContain("backend_developer");
    await selected.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/persona=implementation\/frontend_developer/);
    await page.getByRole("heading", { name: "frontend_developer" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await vi.waitUntil(async () => (await page.locator(".persona-lane").count()) === 0);
    await page.keyboard.press("ArrowRight");
    await vi.waitUntil(async () => (await page.locator(".persona-lane").count()) === 5);
    const labels = () => page.locator(".axis-labels text").allTextContents();
    const whole = (await labels()).length;
    await page.locator(".timeline-scroll").hover();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -600);
    await page.keyboard.up("Control");
    await vi.waitUntil(
      async () =>
        (await labels()).some((label) => /:\d\d:\d\d$/.test(label)) ||
        (await page.locator(".axis-now").count()) === 0,
    );
    await page.keyboard.press("0");
    await vi.waitUntil(async () => (await labels()).length === whole);
    await page.keyboard.press("t");
    await page.getByRole("cell", { name: "migration 003 does not apply: column fee exists" }).waitFor();
  });

  test("text from outside is only ever text", async () => {
    const { page, faults } = await visit("/s/%3Cb%3Ehostile%3C%2Fb%3E/run");
    await page.getByRole("heading", { name: "<b>hostile</b>" }).waitFor();
    await page.getByText("safe\\u202etxt.exe looks like exe.txt").first().waitFor();
    expect(await page.locator("#page img, #page script, #page b:text('hostile')").count()).toBe(0);
    expect(await page.title()).toBe("Running · <b>hostile</b>");
    expect(await overflowOf(page)).toBe(0);
    await page.keyboard.press("4");
    await page.getByRole("heading", { name: "Decisions" }).waitFor();
    expect(await overflowOf(page)).toBe(0);
    expect(faults).toEqual([]);
  });

  test("files are shown with their words, compared between trees, and offered as a download when they are no text", async () => {
    const { page } = await visit("/s/parking-1/artifacts?path=src/payments/service.ts");
    await page.locator(".token-keyword", { hasText: "export" }).first().waitFor();
    await page.getByLabel("Compare with").selectOption({
      label:
        "ui_ux_designer, round 1 attempt 1, " +
        (await page.getByLabel("Compare with").locator("option", { hasText: "ui_ux_designer" }).textContent())
          ?.split(", ")
          .at(-1),
    });
    await page.getByText("3 files differ").waitFor();
    await page.getByRole("treeitem", { name: /service\.ts/ }).click();
    await page.locator(".diff-line.added", { hasText: "if (seen) return seen;" }).waitFor();
    await page.locator(".diff-line.removed", { hasText: "return charge(ticket, amount);" }).waitFor();
    await page.getByLabel("Compare with").selectOption("");
    await page.getByRole("treeitem", { name: "zones.png" }).click();
    await page.getByText("Not text.").waitFor();
    await page.getByRole("treeitem", { name: "tariffs.csv" }).click();
    await page.getByText("000007,zone-7").waitFor();
    expect(await page.locator(".code-line").count()).toBeLessThan(150);
  });

  test("on a phone the timeline is the list of personas, and nothing scrolls sideways", async () => {
    const { page } = await visit("/s/parking-1", { width: 390, height: 844 });
    await page.getByText("Waits for openai.").waitFor();
    expect(await page.getByRole("region", { name: "Phases" }).count()).toBe(0);
    expect(await overflowOf(page)).toBe(0);
    await page.getByRole("button", { name: /backend_developer/ }).click();
    await page.getByRole("heading", { name: "backend_developer" }).waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await vi.waitUntil(
      async () => (await page.getByRole("heading", { name: "backend_developer" }).count()) === 0,
    );
  });

  test("one that is not there says so and leads back", async () => {
    const { page } = await visit("/s/nothing-here");
    await page.getByText("There is no session nothing-here.").waitFor();
    await page.getByRole("link", { name: "All sessions", exact: true }).click();
    await expect.poll(() => page.locator(".session-line").first().isVisible()).toBe(true);
  });
});
