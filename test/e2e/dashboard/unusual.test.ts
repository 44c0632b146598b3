import { expect, test } from "vitest";
import { describeInBrowser, overflowOf } from "./support/browser.ts";
import { newPlace, serve, visitServer } from "./support/real.ts";

describeInBrowser("unusual input", () => {
  test("keeps a review of long files, outputs and lines quick and its buttons uncovered", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server, { width: 1280, height: 720 });
    await server.post("/v1/sessions", { team: "large", brief: "b", key: "large" });
    await page.getByRole("row", { name: /large.*design waits for review, 2 files changed/ }).waitFor();
    await page.goto(`${server.url}/s/large`);
    await page.locator(".diff-line.added", { hasText: "line 3 of many" }).waitFor();
    expect(await page.locator("*").count(), "only visible lines exist").toBeLessThan(2_500);
    for (const name of ["Approve", "Reject…", "Edit…"]) {
      // A trial click fails when another element covers the button.
      await page.locator(".choices").getByRole("button", { name, exact: true }).click({ trial: true });
    }
    expect(await overflowOf(page)).toBe(0);
    await page.evaluate("document.querySelector('.review-diff .code-scroll').scrollTo(0, 1e9)");
    await page.locator(".diff-line.added", { hasText: "line 19999 of many" }).waitFor();
    await page.getByRole("button", { name: "b-huge.txt" }).click();
    await page.getByText(/Not compared: binary or over 1 MB\. After [\d.]+ MB/).waitFor();
    await page.getByRole("link", { name: "Download" }).waitFor();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Completed.", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("shows the choices before the reasons on a phone and keeps them in reach", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server, { width: 390, height: 844 });
    for (const team of ["reviewed", "modeled", "helpless"])
      await server.post("/v1/sessions", { team, brief: "/nowhere", key: team });
    for (const [key, word, opened] of [
      ["reviewed", "Approve…", "Approve design"],
      ["helpless", "Resume…", "Resume helpless"],
      ["modeled", "Raise the limit…", undefined],
    ] as const) {
      await expect
        .poll(async () => (await server.get<{ status: string }>(`/v1/sessions/${key}`)).status)
        .toBe("parked");
      await page.goto(`${server.url}/s/${key}`);
      const bar = page.locator(".phone-bar");
      await bar.waitFor();
      const [barBox, choices, why] = await Promise.all(
        [bar, page.locator(".stopped-choices"), page.locator(".stopped-why")].map((part) =>
          part.boundingBox(),
        ),
      );
      expect((barBox?.y ?? 0) + (barBox?.height ?? 0)).toBe(844);
      expect(choices?.y, `${key}: choices first`).toBeLessThan(why?.y ?? 0);
      await bar.getByRole("button", { name: word }).click();
      if (opened === undefined)
        await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("INPUT");
      else await page.getByRole("dialog", { name: opened }).waitFor();
      expect(await overflowOf(page)).toBe(0);
    }
    expect(await server.get("/v1/sessions/reviewed"), "the bar only opens").toMatchObject({
      status: "parked",
    });
    expect(faults).toEqual([]);
  });

  test("explains each of ten personas that need help", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server);
    await server.post("/v1/sessions", { team: "crowded", brief: "b", key: "crowd" });
    await page.getByRole("row", { name: /crowd.*10 personas need help in all/ }).click();
    await page.getByRole("heading", { name: "10 personas need help in all" }).waitFor();
    const list = page.getByRole("region", { name: "Personas that need help" });
    await expect.poll(() => list.getByRole("button").count()).toBe(10);
    await list.getByRole("button", { name: /worker_7/ }).click();
    await page.getByText("Bring key 7.").waitFor();
    await page.getByRole("region", { name: "Attempts of worker_7" }).waitFor();
    expect(await page.getByText("Bring key 3.").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("opens keys that look like a command, an escape or a folder, and quotes them in commands", async () => {
    const place = newPlace();
    const server = await serve(place);
    const { page, faults } = await visitServer(server);
    for (const key of ["x; touch pwned #", "a%2Fb", "..", "50%"]) {
      const { id } = await server.post<{ id: string }>("/v1/sessions", {
        team: "helpless",
        brief: "/nowhere",
        key,
      });
      await page.goto(server.url);
      await page
        .locator(".session-line")
        .filter({ has: page.getByText(key, { exact: true }) })
        .first()
        .click();
      await page
        .getByRole("heading", { name: "importer needs help: The city's price list is missing" })
        .waitFor();
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(key);
      const quoted = key.includes(";") ? `'${key}'` : key;
      await page
        .getByText(`maestro resume ${quoted} --state-dir ${place.stateDir}`, { exact: true })
        .waitFor();
      // A pasted key opens too, unless the browser rewrites it.
      if (key !== "..") {
        await page.goto(`${server.url}/s/${encodeURIComponent(key)}/brief`);
        await page.getByText(id).first().waitFor();
      }
    }
    expect(faults).toEqual([]);
  });

  test("refuses an unknown model at its field and lets a fork use another one", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server);
    await page
      .getByRole("button", { name: /Start a session/ })
      .first()
      .click();
    const start = page.getByRole("dialog", { name: "Start a session" });
    await start.getByRole("textbox", { name: "Brief" }).fill("Parking fees");
    await start.getByRole("combobox", { name: "Team" }).selectOption("modeled");
    await start.getByRole("combobox", { name: "Model" }).fill("nope/zzz");
    await start.getByRole("button", { name: "Start", exact: true }).click();
    await start.getByText(/The model "nope\/zzz" has no provider that Maestro knows/).waitFor();
    expect(await server.get("/v1/sessions")).toMatchObject({ total: 0 });
    await page.keyboard.press("Escape");
    await server.post("/v1/sessions", { team: "modeled", brief: "Parking fees", key: "poor" });
    await page.goto(`${server.url}/s/poor`);
    await page.getByRole("button", { name: "fork with a cheaper model…" }).click();
    const panel = page.getByRole("dialog", { name: "Fork poor" });
    const model = panel.getByRole("combobox", { name: "Model" });
    await expect.poll(() => page.evaluate("document.activeElement.dataset.field")).toBe("model");
    await model.fill("gpt");
    await panel.getByText("A model is written provider/model.").waitFor();
    await model.fill("nope/zzz");
    await panel.getByText(/has no provider that Maestro knows/).waitFor();
    const fork = panel.getByRole("button", { name: /^Fork/ }).last();
    expect(await fork.getAttribute("aria-disabled")).toBe("true");
    await model.fill("simulated");
    await panel.getByText(/maestro fork poor --at text --model simulated --state-dir/).waitFor();
    await expect.poll(() => fork.getAttribute("aria-disabled")).toBe("false");
    await fork.click();
    await page.getByText("fork of").waitFor();
    expect(await server.get("/v1/sessions")).toMatchObject({ total: 2 });
    expect(faults).toEqual([]);
  });

  test("updates usage while its page is open and marks the simulated share", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server);
    await page.goto(`${server.url}/usage`);
    await page.getByText("Nothing was spent in this time.").waitFor();
    const budget = { tokens: 200_000 };
    await server.post("/v1/sessions", { team: "modeled", brief: "Parking fees", key: "spender", budget });
    await page.getByText("simulated, nothing was paid").first().waitFor({ timeout: 40_000 });
    await page.getByRole("row", { name: /writer.*simulated/ }).waitFor();
    expect(faults).toEqual([]);
  });
});
