import { expect, test } from "vitest";
import { axe, axeSource, everyRule } from "./support/axe.ts";
import { describeInBrowser, overflowOf } from "./support/browser.ts";
import { newPlace, serve, visitServer } from "./support/real.ts";

describeInBrowser("signing out", () => {
  test("ends the login, the stream and the page, also for the back button and a copy of the cookie", async () => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server);
    await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
    const cookies = await page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    const ask = async () => (await fetch(`${server.url}/v1/status`, { headers: { cookie } })).status;
    expect(await ask()).toBe(200);
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/signed-out");
    expect(await page.context().cookies()).toEqual([]);
    expect(await ask()).toBe(401);
    await page.goto(`${server.url}/`);
    await page.getByRole("heading", { name: "Not signed in" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("in one tab is seen by the other tab, which says how to sign in again", async () => {
    const server = await serve(newPlace());
    const { page } = await visitServer(server);
    await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${server.url}/`);
    await other.getByText("Live", { exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /^Command/ }).fill("sign out");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
    await other.getByText("maestro serve --link").waitFor({ timeout: 20_000 });
    await other.getByText("Signed out", { exact: true }).waitFor();
  });

  test("that is not answered leaves the page as it is and says that you are still signed in", async () => {
    const server = await serve(newPlace());
    const { page } = await visitServer(server);
    await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
    server.child.kill("SIGKILL");
    await server.exited;
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByText("You are still signed in.").waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
  });

  test.each([
    ["light", false],
    ["dark", true],
  ])("shows pages that pass axe in the %s theme, and fit a phone", async (_name, dark) => {
    const server = await serve(newPlace());
    const { page, faults } = await visitServer(server, { dark, width: 390, height: 844 });
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    await page.evaluate(axeSource);
    expect(await axe(page, everyRule)).toEqual([]);
    for (const path of ["/signed-out", "/login?code=used"]) {
      await page.goto(`${server.url}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.evaluate(axeSource);
      expect(await axe(page, everyRule), path).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
    }
    expect(faults.filter((fault) => !fault.includes("401"))).toEqual([]);
  });
});
