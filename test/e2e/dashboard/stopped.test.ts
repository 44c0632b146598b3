import { expect, test, vi } from "vitest";
import { findSession } from "../../../dashboard/fixture/world.ts";
import { describeInBrowser, focusedText, overflowOf, visit } from "./support/browser.ts";

describeInBrowser("a stopped session", () => {
  test("at 3 am: every answer in its order, unscrolled at 1440 by 900, focus on the headline", async () => {
    const { page } = await visit("/s/parking-payments");
    const headline = page.getByRole("heading", {
      name: "backend_developer could not pass the check api-tests. All 6 attempts are used.",
    });
    await headline.waitFor();
    expect(await focusedText(page)).toBe(await headline.textContent());
    const answers = [
      headline,
      page.getByText("Nothing is running or spending"),
      page.getByText("Same failure in 6 of 6 attempts"),
      page.getByText('expected 201 "Created", got 422 "Unprocessable Entity"'),
      page.getByText("Change the design's currency to ISO 4217 and resume."),
      page.getByRole("heading", { name: "Where it stopped" }),
    ];
    await page.getByRole("cell", { name: "about $4.10 of $8.09 left" }).waitFor();
    let above = 0;
    for (const answer of answers) {
      const box = await answer.first().boundingBox();
      expect(box?.y).toBeGreaterThanOrEqual(above);
      above = box?.y ?? 0;
    }
    for (const part of [
      ...answers,
      page.getByText("maestro resume parking-payments", { exact: true }),
      page.getByRole("cell", { name: "init" }),
    ]) {
      const box = await part.first().boundingBox();
      expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(900);
    }
    await page.getByText(/2 of 5 phases sealed, verified \d\d:\d\d/).waitFor();
    await page.getByRole("link", { name: "OPS-412" }).waitFor();
  });

  test("resumes with an edit only when asked, and is Sealing the edit… until the event arrives", async () => {
    const { page, fixture } = await visit("/s/parking-payments");
    await page.getByRole("radio", { name: /An input was wrong/ }).check();
    await page.getByRole("button", { name: "Open editor…" }).click();
    await page.getByLabel("What", { exact: true }).selectOption("file design/openapi.yaml");
    const content = page.getByLabel("Content");
    await content.fill((await content.inputValue()).replace("€", "EUR"));
    await page.locator(".diff-line.added", { hasText: 'enum: ["EUR"]' }).first().waitFor();
    await page.getByRole("button", { name: "Keep this edit" }).click();
    await page.getByRole("button", { name: "Seal edit and resume" }).click();
    await page.locator(".pending-line", { hasText: "Sealing the edit…" }).waitFor();
    const sent = fixture.received.filter(({ body }) => !(body as { dryRun?: boolean }).dryRun);
    expect(sent).toHaveLength(1);
    const [{ path, body } = { path: "", body: {} }] = sent;
    expect(path).toMatch(/\/resume$/);
    expect(
      (body as { edits: { design: { files: Record<string, string> } } }).edits.design.files[
        "design/openapi.yaml"
      ],
    ).toContain('enum: ["EUR"]');
    await page.getByText("Running implementation.").waitFor();
    expect(await page.getByRole("link", { name: "Stopped" }).count()).toBe(0);
  });

  test("a refusal keeps the page as it is, with what to do, code and request", async () => {
    const { page } = await visit("/s/parking-payments", {
      before: (_page, fixture) => {
        fixture.faults.push({
          path: `/v1/sessions/${findSession(fixture.world, "parking-payments")?.id}/resume`,
          method: "POST",
          problem: {
            status: 409,
            code: "LEASE_HELD",
            detail: "Another process drives this session (epoch 7).",
            advice: "Nothing: it is already running.",
          },
        });
      },
    });
    await page.getByRole("radio", { name: /The cause was outside and is fixed/ }).check();
    await page.getByText("expect another").waitFor();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    const alert = page.getByRole("alert").filter({ hasText: "Could not resume." });
    await alert.waitFor();
    await alert.getByText("409 LEASE_HELD").waitFor();
    await expect.poll(() => alert.getByText("req_8f2c1").isVisible()).toBe(true);
  });

  test.each([
    ["/s/parking-payments", "rf"],
    ["/s/onboarding-copy", "fax"],
    ["/s/tariff-engine", "rf"],
    ["/s/parking-1", "fp"],
  ])("%s: the keys %s open, and Enter right after them does nothing", async (path, keys) => {
    const { page, fixture } = await visit(path);
    await page.locator(".session-tabs").waitFor();
    for (const key of keys.split("")) {
      await page.keyboard.press(key);
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Enter");
      // A list that Enter has opened takes the first Escape.
      await vi.waitUntil(async () => {
        if ((await page.locator("dialog").count()) === 0) return true;
        await page.keyboard.press("Escape");
        return false;
      });
    }
    expect(fixture.received.filter(({ body }) => (body as { dryRun?: boolean }).dryRun !== true)).toEqual([]);
  });

  test("missing reasons are left out, never invented", async () => {
    const { page } = await visit("/s/map-tiles-cache");
    await page.getByRole("heading", { name: /^Failed in implementation: the team has changed/ }).waitFor();
    expect(await page.getByText("What it means").count()).toBe(0);
    expect(await page.getByText("Same failure").count()).toBe(0);
    await page.getByRole("radio", { name: /accept them and resume/ }).waitFor();
    await page.getByText("maestro resume map-tiles-cache --accept-changes").waitFor();
  });

  test("review by key: the panel wants a note to reject, and its word names the phase", async () => {
    const { page } = await visit("/s/onboarding-copy");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await page.keyboard.press("x");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Reject" }).click();
    await dialog.getByText("Say what has to change.").waitFor();
    await dialog.getByLabel("Note").fill("Shorter.");
    const asked = page.waitForRequest((request) => request.url().endsWith("/reject"));
    await dialog.getByRole("button", { name: "Reject" }).click();
    expect((await asked).postDataJSON()).toEqual({ phase: "design", note: "Shorter.", resume: true });
  });

  test("review: files, differences, checks and gate; a rejection needs a note; approving goes on", async () => {
    const { page, fixture } = await visit("/s/onboarding-copy");
    await page
      .getByRole("heading", { name: "design waits for your review: 3 files changed, gate 0.88 of 0.80." })
      .waitFor();
    await page.locator(".diff-line.added", { hasText: 'enum: ["EUR", "CHF"]' }).waitFor();
    await page.getByText("exit 1: grade 9.4, wanted 8").waitFor();
    await page.getByRole("button", { name: "Reject…" }).click();
    await page.getByText("Say what has to change.").waitFor();
    expect(fixture.received).toEqual([]);
    await page.getByRole("textbox", { name: "Note" }).fill("Shorter words, please");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Running implementation.").waitFor();
    expect(fixture.received).toMatchObject([
      {
        method: "POST",
        path: expect.stringMatching(/\/approve$/),
        body: { note: "Shorter words, please", resume: true },
      },
    ]);
  });

  test("fork: the plan and its price before anything runs, then the new session", async () => {
    const { page, fixture } = await visit("/s/parking-payments");
    await page.getByRole("button", { name: "Fork…" }).first().click();
    const panel = page.getByRole("dialog", { name: "Fork parking-payments" });
    await panel.getByLabel("Fork at").selectOption("design");
    await panel.getByText(/requirements, sealed \d\d:\d\d/).waitFor();
    await panel.getByText("testing, deployment").waitFor();
    await panel.getByRole("button", { name: "Fork, up to $6.40" }).waitFor();
    await panel.getByRole("checkbox", { name: /Reuse nothing/ }).check();
    await panel.getByRole("button", { name: "Fork, up to $9.00" }).waitFor();
    await panel.getByText("maestro fork parking-payments --at design --fresh").waitFor();
    expect(fixture.received.every(({ body }) => (body as { dryRun?: boolean }).dryRun === true)).toBe(true);
    await panel.getByRole("button", { name: "Fork, up to $9.00" }).click();
    await page.waitForURL(/parking-payments-fork-3/);
    await page.getByText("fork of").waitFor();
  });

  test("fork with an edit: the file is changed, the difference shown, the edit sent", async () => {
    const { page, fixture } = await visit("/s/tariff-import");
    await page.locator(".session-tabs").waitFor();
    await page.keyboard.press("f");
    const panel = page.getByRole("dialog", { name: "Fork tariff-import" });
    await panel.getByLabel("Fork at").selectOption("implementation");
    await panel.getByText("Nothing will run: every input is unchanged.").waitFor();
    await panel.getByRole("button", { name: "Edit a file or an output…" }).click();
    const editor = page.getByRole("dialog", { name: "Edit what a phase left" });
    await editor.getByLabel("Phase").selectOption("design");
    await editor.getByLabel("What", { exact: true }).selectOption("file design/decisions.md");
    await editor.getByRole("textbox", { name: "Content" }).fill("# Decisions\n\n1. Integers for money\n");
    await editor.locator(".diff-line.added", { hasText: "Integers for money" }).waitFor();
    await editor.getByRole("button", { name: "Keep this edit" }).click();
    await panel.getByText("design/decisions.md").waitFor();
    await panel.getByRole("button", { name: /^Fork, up to/ }).click();
    await page.waitForURL(/tariff-import-fork-3/);
    expect(fixture.received.at(-1)?.body).toEqual({
      at: "implementation",
      edits: { design: { files: { "design/decisions.md": "# Decisions\n\n1. Integers for money\n" } } },
    });
  });

  test("budget: a limit below the next call is refused here, a higher one is raised and resumes", async () => {
    const { page, fixture } = await visit("/s/ledger-migration");
    await page
      .getByRole("heading", { name: "The next call needs up to $0.42. $0.11 is left of $8.00." })
      .waitFor();
    const limit = page.getByLabel("Raise the limit to");
    expect(await limit.inputValue()).toBe("11.00");
    await limit.fill("8.10");
    await page.getByRole("button", { name: "Raise and resume" }).click();
    await page.getByText("The next call alone needs $8.31.").waitFor();
    expect(fixture.received).toEqual([]);
    await limit.fill("12");
    await page.getByRole("button", { name: "Raise and resume" }).click();
    await page.locator(".pending-line", { hasText: "Raising the limit…" }).waitFor();
    await page.getByText("of $12.00").first().waitFor();
    expect(fixture.received).toMatchObject([{ method: "PATCH", body: { usd: 12, resume: true } }]);
  });

  test("budget: the limit of the day is not raised on the page of one session, which says whose it is", async () => {
    const { page, fixture } = await visit("/s/ledger-migration", {
      before: (_page, { world }) => {
        Object.assign(findSession(world, "ledger-migration")?.situation ?? {}, { level: "day" });
      },
    });
    await page.getByRole("heading", { name: /is left of \$8\.00 for the day\.$/ }).waitFor();
    await page.getByText("budget.dayUsd").waitFor();
    expect(await page.getByRole("button", { name: "Raise and resume" }).count()).toBe(0);
    await page.getByRole("button", { name: "Resume…" }).click();
    await page.getByRole("dialog", { name: "Resume ledger-migration" }).waitFor();
    expect(fixture.received.filter(({ body }) => (body as { dryRun?: boolean }).dryRun !== true)).toEqual([]);
  });

  test("breaker: nothing needs you, and a reset asks before it acts", async () => {
    const { page, fixture } = await visit("/s/threat-model-q4");
    await page.getByText(/It is taken up again by itself in \d+:\d\d\./).waitFor();
    await page.getByRole("button", { name: "Reset…" }).click();
    const dialog = page.getByRole("dialog", { name: "Reset the breaker semgrep" });
    await dialog.waitFor();
    expect(fixture.received).toEqual([]);
    await dialog.getByRole("button", { name: "Reset", exact: true }).click();
    await vi.waitUntil(() => fixture.received.some(({ path }) => path === "/v1/breakers/semgrep/reset"));
  });

  test("a damaged checkpoint names where a resume would start", async () => {
    const { page } = await visit("/s/map-tiles-cache/checkpoints");
    await expect
      .poll(() =>
        page
          .getByText(
            /checkpoint_design\.json does not match its seal\. Resume would start at requirements, sealed \d\d:\d\d and valid; design would run again\./,
          )
          .isVisible(),
      )
      .toBe(true);
  });

  test("on a phone the ways to go on stay in reach and nothing scrolls sideways", async () => {
    const { page } = await visit("/s/parking-payments", { width: 390, height: 844, dark: true });
    await page.getByRole("button", { name: "Resume…" }).waitFor();
    await page.getByRole("radio", { name: /An input was wrong/ }).check();
    const edit = page.getByRole("button", { name: "Edit and resume…" });
    await edit.waitFor();
    const box = await edit.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844);
    expect(await overflowOf(page)).toBe(0);
    await edit.click();
    await page
      .getByRole("dialog", { name: "Edit what a phase left" })
      .getByRole("textbox", { name: "Content" })
      .waitFor();
    expect(await overflowOf(page)).toBe(0);
  });
});
