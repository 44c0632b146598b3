import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sentCalls } from "../../support/sent-calls.ts";
import { axe, axeSource, everyRule } from "./support/axe.ts";
import { describeInBrowser, type OpenPage, overflowOf } from "./support/browser.ts";
import { newPlace, type Place, serve, visitServer } from "./support/real.ts";

/** A folder of repositories with one in it. */
function rootOf({ folder }: Place): string {
  const root = join(folder, "code");
  const app = join(root, "shop");
  mkdirSync(join(app, "src/app"), { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.email=a@example.org", "-c", "user.name=A", ...args], { cwd: app });
  git("init", "--quiet", "--initial-branch=main");
  writeFileSync(join(app, "src/app/main.ts"), "one\ntwo\nthree\n");
  writeFileSync(join(app, "old.txt"), "old\n");
  writeFileSync(join(app, ".env"), "KEY=canary-secret\n");
  git("add", "--all", "--force");
  git("commit", "--quiet", "--message", "start");
  writeFileSync(join(app, "src/app/main.ts"), "one\ntwo\nthree\n\n");
  return root;
}

const startPanel = async ({ page }: OpenPage, key: string) => {
  await page
    .getByRole("button", { name: /Start a session/ })
    .first()
    .click();
  const panel = page.getByRole("dialog", { name: "Start a session" });
  await panel.getByRole("textbox", { name: "Brief" }).fill("Change the shop");
  await panel.getByRole("combobox", { name: "Team" }).selectOption("changing");
  await panel.getByRole("textbox", { name: "Key" }).fill(key);
  return panel;
};

const names = ({ page }: OpenPage): Promise<readonly string[]> =>
  page.locator(".review-list .file-path").allTextContents();

/** Kept for a person to look at, where this names a folder. */
const shots = process.env["DASHBOARD_SHOTS"];

describeInBrowser("a session on files of a person", () => {
  test("begins with a repository, shows right names, and sends comments at lines with a rejection", async () => {
    const place = newPlace();
    const root = rootOf(place);
    const server = await serve(place, 0, ["--repo-root", root]);
    const opened = await visitServer(server);
    const { page, faults } = opened;
    const panel = await startPanel(opened, "shop");
    await panel.getByRole("radio", { name: "A repository" }).check();
    await panel.getByRole("button", { name: "Start", exact: true }).click();
    await panel.getByText("Name the folder of a repository.").waitFor();
    await panel.getByLabel("Repository", { exact: true }).fill(join(root, "shop"));
    if (shots !== undefined) await page.screenshot({ path: join(shots, "start.png") });
    await page.evaluate(axeSource);
    expect(await axe(page, everyRule)).toEqual([]);
    await panel.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/s\/shop/);
    await page.getByRole("heading", { name: /change waits for/ }).waitFor();

    await expect
      .poll(() => names(opened))
      .toEqual([
        "-rf.txt",
        ".github/workflows/ci.yml",
        ".gitignore",
        "docs/שלום/קובץ (1).md",
        "notes.md",
        "old.txt",
        "routes/[id].ts",
        "src/app/main.ts",
        "web/app/(shop)/[slug]/a-rather-long-folder-name/of-a-deep-tree/page.tsx",
      ]);
    const list = page.locator(".review-list");
    const reordered = `[...document.querySelectorAll(".file-path, .file-folder, .file-name")]
      .filter((each) => getComputedStyle(each).direction === "rtl").length`;
    expect(await page.evaluate(reordered)).toBe(0);
    await list.getByRole("button", { name: /old\.txt.*deleted/ }).waitFor();
    await list.getByRole("button", { name: /\.gitignore.*new/ }).waitFor();
    await list.getByRole("button", { name: /main\.ts/ }).click();
    await page.getByRole("button", { name: "Comment on line 2", exact: true }).click();
    await page.getByRole("textbox", { name: "Comment", exact: true }).fill("Keep the old word.");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const comments = page.getByRole("region", { name: "Comments" });
    await comments.getByText("src/app/main.ts:2", { exact: true }).waitFor();
    await page.getByRole("button", { name: /Has a comment.*line 2/ }).waitFor();
    for (const [width, theme] of [
      [1440, "light"],
      [1440, "dark"],
      [390, "light"],
      [390, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(`document.documentElement.setAttribute("data-theme", "${theme}")`);
      expect(await overflowOf(page)).toBe(0);
      expect(await axe(page, everyRule)).toEqual([]);
      if (shots !== undefined)
        await page.screenshot({ path: join(shots, `review-${width}-${theme}.png`), fullPage: true });
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    const archive = await page.request.get(
      new URL((await page.getByRole("link", { name: "Zip" }).getAttribute("href")) ?? "", server.url).href,
    );
    expect(archive.headers()["content-type"]).toBe("application/zip");
    await page.getByRole("button", { name: "Reject…" }).first().click();
    await expect
      .poll(
        async () => JSON.stringify((await sentCalls(place.stateDir, "shop")).map(({ messages }) => messages)),
        {
          timeout: 60_000,
        },
      )
      .toContain("src/app/main.ts:2: Keep the old word.");
    await page.goto(`${server.url}/s/shop/brief`);
    const source = page.getByRole("region", { name: "Source" });
    await source.getByText(join(root, "shop"), { exact: true }).waitFor();
    await source.getByText("1 file: src/app/main.ts").waitFor();
    await source.getByText(".env", { exact: true }).waitFor();
    if (shots !== undefined) await page.screenshot({ path: join(shots, "source.png") });
    await page.evaluate(axeSource);
    expect(await axe(page, everyRule)).toEqual([]);
    expect(await page.content()).not.toContain("canary-secret");
    expect(faults).toEqual([]);
  });

  test("begins with an archive from the file picker, and says at the field why one is refused", async () => {
    const place = newPlace();
    const root = rootOf(place);
    const opened = await visitServer(await serve(place));
    const { page } = opened;
    const archive = join(place.folder, "shop.tar.gz");
    execFileSync("tar", ["czf", archive, "-C", join(root, "shop"), "."]);
    const broken = join(place.folder, "broken.zip");
    writeFileSync(broken, "not a zip");
    const panel = await startPanel(opened, "sent");
    await panel.getByRole("radio", { name: "A repository" }).check();
    await panel.getByText(/This server takes no repositories/).waitFor();
    await panel.getByRole("radio", { name: "An archive" }).check();
    await panel.getByLabel("Archive", { exact: true }).setInputFiles(broken);
    await panel.getByRole("button", { name: "Start", exact: true }).click();
    await panel.getByText(/neither a tar\.gz nor a zip/).waitFor();
    await panel.getByLabel("Archive", { exact: true }).setInputFiles(archive);
    await panel.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/s\/sent/);
    await page.getByRole("heading", { name: /change waits for/ }).waitFor();
    await page
      .locator(".review-list")
      .getByRole("button", { name: /main\.ts/ })
      .waitFor();
    await page.getByRole("link", { name: "Brief and team" }).click();
    const source = page.getByRole("region", { name: "Source" });
    await source.getByText("it belongs to version control").waitFor();
    await source.getByText(/^tar\.gz, /).waitFor();
  });
});
