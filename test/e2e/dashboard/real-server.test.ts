import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeInBrowser } from "./support/browser.ts";
import { effectsOf, newPlace, type Place, serve, visitServer } from "./support/real.ts";

const everyStep = ["ask", "build 1", "build 2", "build 3", "build 4", "build 5", "release"];
const letGo = ({ folder }: Place) => writeFileSync(join(folder, "go"), "");

describeInBrowser("a real server and a real run", () => {
  test("a session is started on the page and watched to its end: steps stay, counts grow", async () => {
    const place = newPlace();
    const { page, faults } = await visitServer(await serve(place));
    await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
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

  test("killed with SIGKILL in the middle and started again: the page comes back, the run goes on, no step runs twice", async () => {
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
});
