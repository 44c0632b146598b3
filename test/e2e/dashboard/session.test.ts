import { expect, test } from "vitest";
import { hostileKey } from "../../../dashboard/seed/hostile.ts";
import { overflowOf } from "./support/browser.ts";
import { describeSeeded, visit, visitByLine, visitOwn } from "./support/seeded.ts";

describeSeeded("a session", () => {
  test("shows a running session as a sentence, a list of phases, lanes and a journal", async () => {
    const { page } = await visit("/s/parking-1");
    await page.getByText("2 personas wait and continue by themselves. Nothing needs you.").waitFor();
    const phases = page.getByRole("region", { name: "Phases" }).getByRole("listitem");
    expect(await phases.count()).toBe(5);
    await page.getByRole("row", { name: /frontend_developer.*Retries (in \d+|now)/ }).waitFor();
    await page.getByRole("row", { name: /security_specialist.*Waits for openai\./ }).waitFor();
    await page
      .getByText(/lease epoch \d/)
      .first()
      .waitFor();
    expect(await page.title()).toBe("Running · parking-1");
  });

  test("shows the attachments of its brief, and the images among them", async () => {
    const { page, faults } = await visit("/s/parking-1/brief");
    const list = page.getByRole("region", { name: "Attachments" });
    await list.getByRole("link", { name: "questions.txt" }).waitFor();
    const image = list.getByRole("img", { name: "garage-level-2.png" });
    await image.waitFor();
    await expect
      .poll(() => image.evaluate((element) => (element as { naturalWidth?: number }).naturalWidth))
      .toBe(240);
    expect(faults).toEqual([]);
  });

  test("follows the text of a persona until the reader scrolls up", async () => {
    const { page, signal } = await visitOwn("/s/parking-1/run");
    await page.getByText("Following", { exact: true }).waitFor();
    const log = page.getByRole("log", { name: "Steps" });
    await log
      .getByText(/and so it ends/)
      .first()
      .waitFor();
    await page.evaluate("document.querySelector('[role=log]').scrollTo(0, 0)");
    await page.getByRole("button", { name: "To the end" }).waitFor();
    signal("text-ends");
    await page.getByRole("button", { name: /^\d+ new$/ }).click();
    await log.getByText("write receipts").waitFor();
  });

  test("shows a pause as pending until the server reports it", async () => {
    const { page, signal } = await visitOwn("/s/parking-1/run");
    await page.getByText("Following", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    const dialog = page.getByRole("dialog", { name: "Pause parking-1" });
    await dialog.getByRole("button", { name: "Pause", exact: true }).click();
    const pending = page.locator(".pending-line", { hasText: "Pausing…" });
    await pending.waitFor();
    signal("text-ends");
    await page.getByText("Paused by a person after design.").waitFor();
    await expect.poll(() => pending.count()).toBe(0);
  });

  test("shows lost connections in the past tense, disables actions and misses no event", async () => {
    const { page, server, signal, cut, mend } = await visitByLine("/s/parking-1/run");
    await page.getByText("Following", { exact: true }).waitFor();
    // Nothing more is recorded once the text stands still, two personas have ended and two wait (one failed and will retry).
    await page
      .getByRole("log", { name: "Steps" })
      .getByText(/and so it ends/)
      .first()
      .waitFor();
    await page
      .getByText(/2 personas wait and continue by themselves/)
      .first()
      .waitFor();
    const session = () =>
      server.get<{
        readonly entries: number;
        readonly phases: readonly { readonly personas: readonly { readonly status: string }[] }[];
      }>("/v1/sessions/parking-1");
    const entries = async () => (await session()).entries;
    await expect
      .poll(async () => (await session()).phases[2]?.personas.map(({ status }) => status))
      .toEqual(["running", "failed", "running", "completed", "completed"]);
    const before = await entries();
    cut();
    await page.getByText(/Connection lost at \d\d:\d\d:\d\d\./).waitFor();
    await page.getByText("Was running implementation.").waitFor();
    await page.getByText("was waiting for openai").waitFor();
    expect(await page.getByRole("button", { name: /^Fork…/ }).getAttribute("aria-disabled")).toBe("true");
    signal("text-ends");
    await expect.poll(entries).toBe(before + 3);
    mend();
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByText("Back. 3 events caught up, none missed.").waitFor();
    for (const seq of [1, 2, 3]) await page.getByText(`#${before + seq}`, { exact: true }).waitFor();
    await page.getByText("Running implementation.").waitFor();
  });

  test("shows 1,000 personas as squares with failures first and filters them by count", async () => {
    const { page } = await visit("/s/translation-all");
    await page.getByRole("button", { name: /^3 failed/ }).waitFor();
    await expect
      .poll(() => page.locator(".squares rect, .squares path.square-held").count())
      .toBeGreaterThanOrEqual(1000);
    await page.getByRole("button", { name: /completed/ }).click();
    await page.getByRole("row", { name: /translator_0001/ }).waitFor();
    expect(await page.locator(".persona-lane").count()).toBeLessThan(60);
    await page.evaluate("document.querySelector('.timeline-scroll').scrollTo(0, 1e9)");
    await page.getByRole("row", { name: /translator_0860/ }).waitFor();
  });

  test("moves through the timeline with arrows, folds phases and offers a table", async () => {
    const { page } = await visit("/s/parking-1/run");
    const selected = page.locator('.lane[aria-selected="true"]');
    await expect.poll(() => selected.textContent()).toContain("backend_developer");
    await selected.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/persona=implementation\/frontend_developer/);
    await page.getByRole("heading", { name: "frontend_developer" }).waitFor();
    const lanes = () => page.locator(".persona-lane").count();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(lanes).toBe(0);
    await page.keyboard.press("ArrowRight");
    await expect.poll(lanes).toBe(5);
    const labels = () => page.locator(".axis-labels text").allTextContents();
    const whole = (await labels()).length;
    await page.locator(".timeline-scroll").hover();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -600);
    await page.keyboard.up("Control");
    await expect
      .poll(
        async () =>
          (await labels()).some((label) => /:\d\d:\d\d$/.test(label)) ||
          (await page.locator(".axis-now").count()) === 0,
      )
      .toBe(true);
    await page.keyboard.press("0");
    await expect.poll(async () => (await labels()).length).toBe(whole);
    await page.keyboard.press("t");
    await page.getByRole("cell", { name: /typecheck: grep ended with exit code 1/ }).waitFor();
  });

  test("shows text from outside as text only", async () => {
    const { page, faults } = await visit(`/s/${encodeURIComponent(hostileKey)}/run`);
    await page.getByRole("heading", { name: hostileKey }).waitFor();
    expect(await page.title()).toBe(`Completed · ${hostileKey}`);
    expect(await overflowOf(page)).toBe(0);
    await page.keyboard.press("4");
    await page.getByRole("heading", { name: "Decisions" }).waitFor();
    await page
      .getByText(/safe\\u202etxt\.exe looks like exe\.txt/)
      .first()
      .waitFor();
    expect(await page.locator("#page img, #page script, #page b:text('hostile')").count()).toBe(0);
    expect(await overflowOf(page)).toBe(0);
    expect(faults).toEqual([]);
  });

  test("highlights files, compares them between phases and offers binary files for download", async () => {
    const { page, url } = await visit("/s/ev-chargers/artifacts?path=src/payments/service.ts");
    await page.locator(".token-keyword", { hasText: "export" }).first().waitFor();
    await page.goto(`${url}/s/onboarding-copy/artifacts?path=docs/screens.md`);
    await page.getByLabel("Compare with").selectOption("phase:collect");
    await page.getByText("3 files differ").waitFor();
    await page.getByRole("treeitem", { name: /screens\.md/ }).click();
    await page.locator(".diff-line.added", { hasText: "Price in EUR" }).waitFor();
    await page.locator(".diff-line.removed", { hasText: "Price in €" }).waitFor();
    await page.getByLabel("Compare with").selectOption("");
    await page.getByRole("treeitem", { name: "zones.png" }).click();
    await page.getByText("Not text.").waitFor();
    await page.getByRole("treeitem", { name: "tariffs.csv" }).click();
    await page.getByText("000007,zone-7").waitFor();
    expect(await page.locator(".code-line").count()).toBeLessThan(150);
  });

  test("shows the personas as a list on a phone", async () => {
    const { page } = await visit("/s/parking-1", { width: 390, height: 844 });
    await page.getByText("Waits for openai.").waitFor();
    expect(await page.getByRole("region", { name: "Phases" }).count()).toBe(0);
    expect(await overflowOf(page)).toBe(0);
    await page.getByRole("button", { name: /backend_developer/ }).click();
    const heading = page.getByRole("heading", { name: "backend_developer" });
    await heading.waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => heading.count()).toBe(0);
  });

  test("reports a session that does not exist, with the code and the way back", async () => {
    const { page } = await visit("/s/nothing-here");
    await page.getByText(/404 SESSION_NOT_FOUND/).waitFor();
    await page.getByRole("link", { name: "All sessions", exact: true }).click();
    await page.locator(".session-line").first().waitFor();
  });
});
