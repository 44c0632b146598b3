import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";

const built = join(import.meta.dirname, "../../../../dist/dashboard");

/** Debian's browser. Without it these tests are skipped, and `npm test` reports that. */
const executable = findOnPath(["chromium", "chromium-browser", "google-chrome"]);

function findOnPath(names: readonly string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

let browser: Browser;
/** One per theme, so that the tests of a file share the browser's cache. */
const contexts = new Map<string, BrowserContext>();

/** Tests that use the built page in a real browser. */
export function describeInBrowser(name: string, tests: () => void): void {
  // oxlint-disable-next-line vitest/valid-title -- the caller chooses the title
  describe.skipIf(executable === undefined)(name, () => {
    beforeAll(async () => {
      if (!existsSync(join(built, "index.html")))
        throw new Error("dist/dashboard is missing: run `npm run build` first.");
      browser = await chromium.launch({
        executablePath: executable ?? "",
        args: ["--no-sandbox", "--disable-gpu"],
      });
    });
    afterAll(async () => {
      contexts.clear();
      await browser.close();
    });
    tests();
  });
}

export interface OpenPage {
  readonly page: Page;
  /** Violations of the content security policy, script errors, and dialogs. */
  readonly faults: readonly string[];
}

export interface PageOptions {
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
  /** A browser context of its own, without cookies or storage. */
  readonly fresh?: boolean;
}

/** Opens an empty page and closes it when the test ends. */
export async function openPage(options: PageOptions = {}): Promise<OpenPage> {
  const { dark = false, width = 1440, height = 900, fresh = false } = options;
  const context = await contextOf(dark, fresh);
  const page = await context.newPage();
  onTestFinished(async () => {
    await page.close();
    if (fresh) await context.close();
  });
  await page.setViewportSize({ width, height });
  page.setDefaultTimeout(120_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) faults.push(`policy: ${message.text()}`);
  });
  return { page, faults };
}

async function contextOf(dark: boolean, fresh: boolean): Promise<BrowserContext> {
  const colorScheme = dark ? "dark" : "light";
  const known = fresh ? undefined : contexts.get(colorScheme);
  const context = known ?? (await browser.newContext({ colorScheme, reducedMotion: "reduce" }));
  if (!fresh) contexts.set(colorScheme, context);
  return context;
}

/** By how many pixels the document is wider than the window. Only code may scroll sideways, in its own box. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate<number>("Math.max(0, document.documentElement.scrollWidth - innerWidth)");

export const focusedText = (page: Page): Promise<string> =>
  page.evaluate<string>("document.activeElement.textContent");
