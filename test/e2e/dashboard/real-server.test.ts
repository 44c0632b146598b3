import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeManySessions } from "../server/support/many-sessions.ts";
import { axe, axeSource, everyRule } from "./support/axe.ts";
import { describeInBrowser, overflowOf } from "./support/browser.ts";
import { effectsOf, newPlace, type Place, serve, visitServer } from "./support/real.ts";

const everyStep = ["ask", "build 1", "build 2", "build 3", "build 4", "build 5", "release"];
const letGo = ({ folder }: Place) => writeFileSync(join(folder, "go"), "");

/** Each page, and a part that it has once it is loaded. */
const realPages: readonly (readonly [path: string, sign: string])[] = [
  ["/", ".session-line"],
  ["/s/parking/run", ".stream-item, .phase-list"],
  ["/s/parking/artifacts?path=src/fees.ts", ".code-line"],
  ["/s/parking/checkpoints", ".checkpoint-table"],
  ["/s/parking/decisions", ".decision-list"],
  ["/s/reviewed", ".diff-line"],
  ["/s/modeled", ".raise-stop"],
  ["/s/helpless", ".why-advice"],
  ["/usage", "h1"],
  ["/health", "h1"],
];

describeInBrowser("a run on a server", () => {
  test("starts a session and shows its steps and counts until it is completed", async () => {
    const place = newPlace();
    const { page, faults } = await visitServer(await serve(place));
    await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
    await page.getByText("maestro demo").waitFor();
    await page
      .getByRole("button", { name: /Start a session/ })
      .first()
      .click();
    const panel = page.getByRole("dialog", { name: "Start a session" });
    await panel.getByRole("textbox", { name: "Brief" }).fill(place.folder);
    await panel.getByRole("combobox", { name: "Team" }).selectOption("parking");
    await panel.getByRole("textbox", { name: "Key" }).fill("watched");
    await panel.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/s\/watched/);
    await page.getByText("Running build.").waitFor();
    await page.getByRole("row", { name: /developer/ }).click();
    const steps = page.getByRole("log", { name: "Steps" });
    await steps.getByText("build 2", { exact: true }).waitFor();
    const tab = (name: string) =>
      page.getByRole("navigation", { name: "Parts of the session" }).getByRole("link", { name });
    await expect.poll(() => tab("Artifacts").textContent()).toBe("Artifacts1");
    letGo(place);
    await page.getByText("Completed.", { exact: true }).waitFor();
    for (const name of everyStep.slice(1, 6)) await steps.getByText(name, { exact: true }).waitFor();
    await expect.poll(() => tab("Artifacts").textContent()).toBe("Artifacts3");
    await expect.poll(() => tab("Decisions").textContent()).toBe("Decisions1");
    expect(await page.title()).toBe("Completed · watched");
    await tab("Decisions").click();
    await page.getByText("the city has no other money").waitFor();
    expect(effectsOf(place)).toEqual(everyStep);
    expect(faults).toEqual([]);
  });

  test("reconnects to a server that was killed with SIGKILL and started again, and no step runs twice", async () => {
    const place = newPlace();
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "parking", brief: place.folder, key: "killed" });
    await page.goto(`${server.url}/s/killed/run?persona=build/developer`);
    const steps = page.getByRole("log", { name: "Steps" });
    await steps.getByText("build 2", { exact: true }).waitFor();
    server.child.kill("SIGKILL");
    await server.exited;
    await page.getByText(/Connection lost at \d\d:\d\d:\d\d\./).waitFor();
    await page.getByText("Was running build.").waitFor();
    const again = await serve(place, server.port);
    await page.getByText(/The server restarted\./).waitFor({ timeout: 40_000 });
    await page.getByText("Running build.", { exact: true }).waitFor();
    letGo(place);
    await page.getByText("Completed.", { exact: true }).waitFor({ timeout: 40_000 });
    for (const name of everyStep.slice(1, 6))
      expect(await steps.getByText(name, { exact: true }).count()).toBe(1);
    expect(effectsOf(place)).toEqual(everyStep);
    expect(await again.get("/v1/sessions/killed")).toMatchObject({
      status: "completed",
      steps: everyStep.length,
    });
    expect(faults).toEqual([]);
  });

  test("edits and seals a phase in review, and builds the rest from the edit", async () => {
    const place = newPlace();
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "reviewed", brief: "A parking app", key: "reviewed" });
    await page.getByRole("row", { name: /reviewed.*design waits for review, 1 file changed/ }).click();
    await page.getByRole("heading", { name: "design waits for review" }).waitFor();
    await page.locator(".diff-line.added", { hasText: "Five services." }).waitFor();
    await page.getByRole("button", { name: "Edit…" }).click();
    const editor = page.getByRole("dialog", { name: "Edit what a phase left" });
    await editor.getByRole("textbox", { name: "Content" }).fill("# Design\n\nOne service.\n");
    await editor.locator(".diff-line.added", { hasText: "One service." }).waitFor();
    await editor.getByRole("button", { name: "Keep this edit" }).click();
    const seal = page.getByRole("dialog", { name: "Seal the edit and resume" });
    await seal.getByText("Seals docs/design.md as design, revision 2. Revision 1 is kept.").waitFor();
    await seal.getByRole("row", { name: /Run build: developer/ }).waitFor();
    await seal.getByRole("button", { name: "Seal edit and resume" }).click();
    await page.getByText("Completed.", { exact: true }).waitFor();
    await page.goto(`${server.url}/s/reviewed/artifacts?path=BUILT.md`);
    await page.locator(".code-line", { hasText: "One service." }).waitFor();
    expect(await page.locator(".code-line", { hasText: "Five services." }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("shows the plan of a fork before anything runs, then runs only the phases that its edit reaches", async () => {
    const place = newPlace();
    letGo(place);
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "parking", brief: place.folder, key: "forked" });
    await page.goto(`${server.url}/s/forked/checkpoints`);
    await page.getByText("Completed", { exact: true }).waitFor();
    await page
      .getByRole("row", { name: /^requirements/ })
      .getByRole("button", { name: "Fork…" })
      .click();
    const panel = page.getByRole("dialog", { name: "Fork forked" });
    expect(await panel.getByLabel("Fork at").inputValue()).toBe("build");
    await panel.getByText("Nothing will run: every input is unchanged.").waitFor();
    await panel.getByRole("button", { name: "Edit a file or an output…" }).click();
    const editor = page.getByRole("dialog", { name: "Edit what a phase left" });
    await editor.getByLabel("Phase").selectOption("requirements");
    await editor.getByRole("textbox", { name: "Content" }).fill("1. Fees are in francs\n");
    await editor.getByRole("button", { name: "Keep this edit" }).click();
    await panel.getByRole("row", { name: /Reuse requirements, sealed \d\d:\d\d/ }).waitFor();
    await panel.getByRole("row", { name: /Run build and release: developer, releaser/ }).waitFor();
    expect(effectsOf(place), "a plan runs nothing").toEqual(everyStep);
    await panel.getByRole("button", { name: /^Fork/ }).last().click();
    await page.getByText("fork of").waitFor();
    await page.getByText("Completed.", { exact: true }).waitFor();
    await page.goto(`${page.url().replace(/\/run.*$/, "")}/artifacts?path=src/fees.ts`);
    await page.locator(".code-line", { hasText: "Fees are in francs" }).waitFor();
    expect(
      effectsOf(place).filter((name) => name === "ask"),
      "earlier phases are reused",
    ).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test("resumes a session parked for its budget when the limit is raised", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "modeled", brief: "Parking fees", key: "poor" });
    await page.getByRole("row", { name: /poor.*2,000 tokens are left/ }).click();
    await page
      .getByRole("heading", {
        name: /^The next call needs up to [\d,]+ tokens; 2,000 of 2,000 tokens are left/,
      })
      .waitFor();
    const limit = page.getByLabel("Raise the limit to");
    await limit.fill("2001");
    await page.getByRole("button", { name: "Raise and resume" }).click();
    await page.getByText(/The next call alone needs [\d,]+ tokens\./).waitFor();
    await limit.fill("90,000");
    await page.getByRole("button", { name: "Raise and resume" }).click();
    await page.getByText("Completed.", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Budget" }).click();
    await page.getByText(/of 90\.0k tokens/).waitFor();
    expect(await server.get("/v1/sessions/poor")).toMatchObject({ status: "completed", limitTokens: 90_000 });
    expect(faults).toEqual([]);
  });

  test("updates the money of the journal while the session spends it, one line per call", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "modeled", brief: "Parking fees", key: "spender" });
    await page.getByRole("row", { name: /spender.*2,000 tokens are left/ }).waitFor();
    await page.goto(`${server.url}/s/spender/run?journal=money`);
    const journal = page.getByRole("region", { name: "Journal", exact: true });
    await journal.getByText("No such entries.").waitFor();
    const body = JSON.stringify({ tokens: 90_000 });
    const headers = { "content-type": "application/json" };
    expect((await server.fetch("/v1/sessions/spender/budgets", { method: "PATCH", headers, body })).ok).toBe(
      true,
    );
    await server.post("/v1/sessions/spender/resume");
    await page.getByText("Completed.", { exact: true }).waitFor();
    const { usage } = await server.get<{ usage: { calls: number } }>("/v1/sessions/spender");
    const lines = journal.getByRole("listitem");
    await expect.poll(() => lines.count()).toBe(usage.calls);
    const said = async () =>
      (await lines.allTextContents()).map((text) => /model#\d+ (?:reserved|settled)/.exec(text)?.[0]);
    const numbers = Array.from({ length: usage.calls }, (_, index) => usage.calls - index);
    await expect.poll(said).toEqual(numbers.map((number) => `model#${number} settled`));
    expect(faults).toEqual([]);
  });

  test("explains a failure that needs help, with its ticket, and resumes once it is fixed", async () => {
    const place = newPlace();
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "helpless", brief: place.folder, key: "helpless" });
    await page.getByRole("row", { name: /importer needs help: The city's price list is missing/ }).click();
    await page
      .getByRole("heading", { name: "importer needs help: The city's price list is missing" })
      .waitFor();
    await page.getByText("Put prices.csv into the folder of the brief, then resume.").waitFor();
    await page.getByText(/Ticket maestro-[0-9a-f]{16} delivered \d\d:\d\d/).waitFor();
    await page.getByText(/1 of 2 phases sealed, .*\. Verified \d\d:\d\d\./).waitFor();
    writeFileSync(join(place.folder, "prices.csv"), "zone,fee\n1,2\n");
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByText("Completed.", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("asks whether an effect of unknown outcome happened, and resumes with the answer", async () => {
    const place = newPlace();
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "unsure", brief: "b", key: "unsure" });
    await page.getByRole("row", { name: /The outcome of "charge" is unknown/ }).click();
    await page.getByRole("heading", { name: 'The outcome of "charge" is unknown' }).waitFor();
    const form = page.getByRole("region", { name: "Did charge happen?" });
    await form.getByText("It failed and may have happened: The bank hung up.").waitFor();
    await page.evaluate(axeSource);
    expect(await axe(page, everyRule)).toEqual([]);
    const result = form.getByLabel("Result of the step as JSON, if it happened and the work uses it");
    await result.fill("{");
    await form.getByRole("button", { name: "It happened" }).click();
    await form.getByText("This is not JSON.").waitFor();
    await result.fill('"7"');
    await form.getByRole("button", { name: "It happened" }).click();
    await page.getByText("Completed.", { exact: true }).waitFor();
    await page.getByText("receipt 7").first().waitFor();
    expect(faults).toEqual([]);
  });

  test("shows calls that wait with their arguments, and approves, changes, rejects and answers them", async () => {
    const place = newPlace();
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "writing", brief: place.folder, key: "writing" });
    await page.getByRole("row", { name: /writer waits for approval of send/ }).click();
    await page.getByRole("heading", { name: /^writer waits for approval of send/ }).waitFor();
    const form = page.getByRole("region", { name: "May writer call send?" });
    const args = form.getByLabel("Arguments as JSON");
    await expect.poll(() => args.inputValue()).toContain('"to": "Ann"');
    await page.evaluate(axeSource);
    expect(await axe(page, everyRule)).toEqual([]);
    await args.fill("[");
    await form.getByRole("button", { name: "Approve with these arguments" }).click();
    await form.getByText("This is not a JSON object.").waitFor();
    await args.fill(JSON.stringify({ folder: place.folder, to: "Cleo" }));
    await form.getByRole("button", { name: "Approve with these arguments" }).click();

    await expect.poll(() => args.inputValue()).toContain('"to": "Bob"');
    expect(effectsOf(place)).toEqual(["sent to Cleo"]);
    await form.getByRole("button", { name: "Reject" }).click();
    await form.getByText("Say why. The persona gets your note as the result.").waitFor();
    await form.getByLabel("Note").fill("one is enough");
    await form.getByRole("button", { name: "Reject" }).click();

    const question = page.getByRole("region", { name: "Question of writer" });
    await question.getByText("Which color?").waitFor();
    await page.evaluate(axeSource);
    expect(await axe(page, everyRule)).toEqual([]);
    await question.getByRole("button", { name: "Answer" }).click();
    await question.getByText("Choose an answer.").waitFor();
    await question.getByRole("radio", { name: "blue" }).check();
    await question.getByRole("button", { name: "Answer" }).click();

    await question.getByText("How should it end?").waitFor();
    await question.getByLabel("Answer").fill("Kind regards");
    await question.getByRole("button", { name: "Answer" }).click();
    await page.getByText("Completed.", { exact: true }).waitFor();
    await page
      .getByText(/not allow this call: one is enough; blue; Kind regards/)
      .first()
      .waitFor();
    expect(effectsOf(place)).toEqual(["sent to Cleo"]);
    expect(faults).toEqual([]);
  });

  test("passes axe in both themes and fits a phone", async () => {
    const place = newPlace();
    letGo(place);
    const server = await serve(place);
    const { page, faults } = await visitServer(server, { dark: true });
    for (const team of ["parking", "reviewed", "modeled", "helpless"])
      await server.post("/v1/sessions", { team, brief: place.folder, key: team });
    await page.getByRole("link", { name: "Needs you 3" }).waitFor();
    const found: string[] = [];
    for (const [path, sign] of realPages) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(server.url + path);
      await page.locator(sign).first().waitFor();
      await page.evaluate(axeSource);
      found.push(...(await axe(page, everyRule)).map((violation) => `${path} ${violation}`));
      await page.evaluate("document.documentElement.dataset.theme = 'light'");
      found.push(...(await axe(page, "['color-contrast']")).map((violation) => `${path} light ${violation}`));
      await page.setViewportSize({ width: 390, height: 844 });
      if (path.endsWith("/run")) await page.locator(".phase-list").waitFor();
      const overflow = await overflowOf(page);
      if (overflow > 0) found.push(`${path} is wider than a phone by ${overflow} px`);
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("opens, filters and scrolls 10,000 sessions, and Back returns to the same place", async () => {
    const place = newPlace();
    mkdirSync(place.stateDir);
    await writeManySessions(place.stateDir, 10_000);
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    await page.getByRole("link", { name: "All 10,000" }).waitFor();
    await page.locator(".session-line").first().waitFor();
    await page.evaluate("document.querySelector('.grid-scroll').scrollTo(0, 1e9)");
    await page.getByText("order-1", { exact: true }).waitFor({ timeout: 60_000 });
    expect(await page.locator(".session-line").count()).toBeLessThan(80);
    const offset = () => page.evaluate<number>("document.querySelector('.grid-scroll')?.scrollTop ?? 0");
    const before = await offset();
    expect(before).toBeGreaterThan(300_000);
    await page.getByText("order-1", { exact: true }).click();
    await page.locator(".session-head").waitFor();
    await page.goBack();
    await expect.poll(offset).toBe(before);
    await page.getByRole("searchbox").fill("order-4321");
    await page.waitForURL(/q=order-4321/);
    await expect.poll(() => page.locator(".session-line").count(), { timeout: 15_000 }).toBe(1);
    await page.locator(".session-line", { hasText: "order-4321" }).click();
    await page.getByRole("heading", { name: "order-4321" }).waitFor();
    expect(faults).toEqual([]);
  });
});
