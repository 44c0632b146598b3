import { expect, test } from "vitest";
import { focusedText, overflowOf } from "./support/browser.ts";
import { describeSeeded, visit, visitOwn } from "./support/seeded.ts";

describeSeeded("a stopped session", () => {
  test("answers the questions of the person on call in order, without scrolling, with focus on the headline", async () => {
    const { page } = await visit("/s/parking-payments");
    const headline = page.getByRole("heading", {
      name: "backend_developer failed the check api-tests in 6 attempts",
    });
    await headline.waitFor();
    await expect.poll(() => focusedText(page)).toBe(await headline.textContent());
    const answers = [
      headline,
      page.getByText(/^Nothing is lost: /),
      page.getByText(/^Nothing is running or spending\./),
      page.getByText(/expected 201 "Created", got 422 "Unprocessable Entity"/),
      page.getByText("Same failure in 6 of 6 attempts"),
      page.getByText("Make the code do what the test expects."),
      page.getByRole("heading", { name: "Where it stopped" }),
    ];
    await page.getByRole("cell", { name: /about \$[\d.]+ of \$[\d.]+ left/ }).waitFor();
    await page.getByText(/2 of 5 phases sealed, 2 finished personas kept, .* Verified \d\d:\d\d\./).waitFor();
    await page.getByText(/Ticket maestro-[0-9a-f]{16} delivered \d\d:\d\d/).waitFor();
    let above = 0;
    for (const answer of answers) {
      const box = await answer.first().boundingBox();
      expect(box?.y).toBeGreaterThanOrEqual(above);
      above = box?.y ?? 0;
    }
    for (const part of [
      ...answers,
      // Personas of the seeded team are code, which no command can resume.
      page.getByText(/[Ss]tart the program that defines/),
      page.getByRole("cell", { name: "init" }),
    ]) {
      const box = await part.first().boundingBox();
      expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(900);
    }
  });

  test("explains before sealing that a phase with finished dependents cannot be edited", async () => {
    const { page, changes } = await visit("/s/parking-payments");
    await page.getByRole("radio", { name: /An input was wrong/ }).check();
    await page.getByRole("button", { name: "Open editor…" }).click();
    await page.getByLabel("What", { exact: true }).selectOption("file design/openapi.yaml");
    const content = page.getByLabel("Content");
    await content.fill((await content.inputValue()).replace("€", "EUR"));
    await page.locator(".diff-line.added", { hasText: 'enum: ["EUR"]' }).first().waitFor();
    await page.getByRole("button", { name: "Keep this edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Seal the edit and resume" });
    await dialog.getByText(/design cannot be edited/).waitFor();
    expect(changes).toEqual([]);
  });

  test("keeps the page after a refused resume and shows the code and the request", async () => {
    const { page, server } = await visitOwn("/s/parking-payments", {
      before: async (page) => {
        // The server gets a request that it must refuse.
        await page.route("**/resume", (route) => {
          const isPlan = (route.request().postDataJSON() as { dryRun?: boolean }).dryRun === true;
          return route.continue(isPlan ? {} : { postData: JSON.stringify({ edits: { nowhere: {} } }) });
        });
      },
    });
    await page.getByRole("radio", { name: /The cause was outside and is fixed/ }).check();
    await page.getByText("expect another").waitFor();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    const alert = page.getByRole("alert").filter({ hasText: "Could not resume." });
    await alert.getByText(/^4\d\d [A-Z_]+/).waitFor();
    await alert.getByText(/[0-9a-z]{26}/).waitFor();
    expect(await server.get("/v1/sessions/parking-payments")).toMatchObject({ status: "parked" });
  });

  test.each([
    ["/s/parking-payments", "rf"],
    ["/s/onboarding-copy", "fax"],
    ["/s/tariff-engine", "rf"],
    ["/s/parking-1", "fp"],
  ])("%s: the keys %s only open a panel, and Enter does not act in it", async (path, keys) => {
    const { page, changes } = await visit(path);
    await page.locator(".session-tabs").waitFor();
    for (const key of keys.split("")) {
      await page.keyboard.press(key);
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Enter");
      // The first Escape closes a list that Enter has opened.
      await expect
        .poll(async () => {
          const open = await page.locator("dialog").count();
          if (open > 0) await page.keyboard.press("Escape");
          return open;
        })
        .toBe(0);
    }
    expect(changes).toEqual([]);
  });

  test("leaves missing reasons out and does not offer to accept a violation of the policy", async () => {
    const { page } = await visit("/s/map-tiles-cache");
    await page
      .getByRole("heading", { name: /^Failed in implementation: backend_developer changed files/ })
      .waitFor();
    expect(await page.getByText("Same failure").count()).toBe(0);
    await page.getByRole("radio", { name: /The work or its policy is corrected/ }).waitFor();
    expect(await page.getByText("The changes are meant").count()).toBe(0);
    await page
      .getByText(/[Ss]tart the program that defines/)
      .first()
      .waitFor();
  });

  test("rejects a review by key only with a note, and names the phase", async () => {
    const { page } = await visitOwn("/s/onboarding-copy");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await page.keyboard.press("x");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Reject" }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByLabel("Note").fill("Shorter.");
    const asked = page.waitForRequest((request) => request.url().endsWith("/reject"));
    await dialog.getByRole("button", { name: "Reject" }).click();
    expect((await asked).postDataJSON()).toEqual({ phase: "draft", note: "Shorter.", resume: true });
  });

  test("shows files, differences, checks and gate of a review, and approving resumes", async () => {
    const { page, changes } = await visitOwn("/s/onboarding-copy");
    await page.getByRole("heading", { name: "draft waits for review, gate 0.89 of 0.80" }).waitFor();
    await page.getByRole("button", { name: /^docs\/\s*\.gitignore/ }).waitFor();
    await page.getByRole("button", { name: /screens\.md/ }).click();
    await page.locator(".diff-line.added", { hasText: "Price in EUR" }).waitFor();
    await page
      .getByText(/grep ended with exit code 1/)
      .first()
      .waitFor();
    const putBack = page.getByRole("list", { name: "Changes that were put back" });
    expect(await putBack.textContent()).toBe(
      "docs/notes.md technical_writer changed it, and researcher delivers it in phase collect",
    );
    await page.getByRole("button", { name: "Reject…" }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    expect(changes).toEqual([]);
    await page.getByRole("textbox", { name: "Note" }).fill("Shorter words, please");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Running publish.").waitFor();
    expect(changes).toMatchObject([
      {
        method: "POST",
        path: expect.stringMatching(/\/approve$/),
        body: { note: "Shorter words, please", resume: true },
      },
    ]);
  });

  test("shows the plan and price of a fork before anything runs, then opens the new session", async () => {
    const { page, changes } = await visitOwn("/s/parking-payments");
    await page.getByRole("button", { name: "Fork…" }).first().click();
    const panel = page.getByRole("dialog", { name: "Fork parking-payments" });
    await panel.getByLabel("Fork at").selectOption("design");
    await panel.getByText(/requirements, sealed \d\d:\d\d/).waitFor();
    const fork = panel.getByRole("button", { name: /^Fork, up to \$[\d.]+$/ });
    await fork.waitFor();
    const price = await fork.textContent();
    await panel.getByRole("checkbox", { name: /Reuse nothing/ }).check();
    await expect.poll(() => fork.textContent()).not.toBe(price);
    await panel.getByText(/maestro fork parking-payments --at design --fresh/).waitFor();
    expect(changes).toEqual([]);
    await fork.click();
    await page.getByText("fork of").waitFor();
    expect(changes).toMatchObject([{ body: { at: "design", fresh: true } }]);
  });

  test("refuses a limit below the next call, then raises it and resumes", async () => {
    const { page, changes } = await visitOwn("/s/ledger-migration");
    await page
      .getByRole("heading", { name: "The next call needs up to $0.42; $0.0090 of $1.71 is left" })
      .waitFor();
    const limit = page.getByLabel("Raise the limit to");
    await limit.fill("2.00");
    await page.getByRole("button", { name: "Raise and resume" }).click();
    await page.getByText(/The next call alone needs \$2\.1\d\./).waitFor();
    expect(changes).toEqual([]);
    await limit.fill("12");
    await page.getByRole("button", { name: "Raise and resume" }).click();
    await page.getByText("of $12.00").first().waitFor();
    await page.getByText("Completed.", { exact: true }).waitFor({ timeout: 60_000 });
    expect(changes).toMatchObject([{ method: "PATCH", body: { usd: 12, resume: true } }]);
  });

  test("names the setting of the day's limit instead of raising it", async () => {
    const { page, changes } = await visit("/s/roadmap-2027");
    await page.getByRole("heading", { name: /of \$0\.20 is left for the day$/ }).waitFor();
    await page.getByText(/^Raise budget\.dayUsd in the configuration to at least/).waitFor();
    expect(await page.getByRole("button", { name: "Raise and resume" }).count()).toBe(0);
    await page.getByRole("button", { name: "Resume…" }).click();
    await page.getByRole("dialog", { name: "Resume roadmap-2027" }).waitFor();
    expect(changes).toEqual([]);
  });

  test("asks before it resets a breaker", async () => {
    const { page, changes } = await visitOwn("/s/threat-model-q4");
    const reset = page.getByRole("button", { name: "Reset…" });
    await reset.click();
    const dialog = page.getByRole("dialog", { name: "Reset the breaker semgrep" });
    await dialog.waitFor();
    expect(changes).toEqual([]);
    await dialog.getByRole("button", { name: "Reset", exact: true }).click();
    await expect.poll(() => changes.map(({ path }) => path)).toEqual(["/v1/breakers/semgrep/reset"]);
  });

  test("names the phase where a resume starts behind a damaged checkpoint", async () => {
    const { page } = await visit("/s/map-tiles-cache/checkpoints");
    await page
      .getByText(/Resume would start at requirements, sealed \d\d:\d\d and valid; design would run again\./)
      .waitFor();
  });

  test("keeps the choices in reach on a phone", async () => {
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
