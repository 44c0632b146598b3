import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import type { Fixture } from "../../../../dashboard/fixture/fixture.ts";
import { type FixtureOptions, startFixture } from "../../../../dashboard/fixture/server.ts";

const built = join(import.meta.dirname, "../../../../dist/dashboard");

/** Debian's browser; where it is missing these tests are skipped, and `npm test` says so. */
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
/** One for each theme: what the browser has read and compiled once serves every test of a file. */
const contexts = new Map<string, BrowserContext>();
/** Fixtures follow each other at one address, for the same reason. */
let port = 0;

/** A group of tests that look at the built page with a real browser. */
export function describeInBrowser(name: string, tests: () => void): void {
  // oxlint-disable-next-line vitest/valid-title -- the title is the caller's
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
  /** Violations of the page's policy, errors of its scripts, and dialogs that text from outside opened. */
  readonly faults: readonly string[];
}

export interface PageOptions {
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
  /** A browser that remembers nothing, and that nobody uses afterwards. */
  readonly fresh?: boolean;
}

export interface Visit extends OpenPage {
  readonly fixture: Fixture;
}

export interface VisitOptions extends FixtureOptions, PageOptions {
  /** Something to do before the page is asked for. */
  readonly before?: (page: Page, fixture: Fixture) => Promise<void> | void;
}

/** Opens the page over invented sessions of its own; both are gone when the test ends. */
export async function visit(path: string, options: VisitOptions = {}): Promise<Visit> {
  const fixture = await startFixture({ sessions: 60, page: built, port, ...options });
  port = Number(new URL(fixture.url).port);
  onTestFinished(() => fixture.close());
  const opened = await openPage(options);
  await options.before?.(opened.page, fixture);
  await opened.page.goto(fixture.url + path);
  return { ...opened, fixture };
}

/** A page that shows nothing yet, and is closed when the test ends. */
export async function openPage(options: PageOptions = {}): Promise<OpenPage> {
  const { dark = false, width = 1440, height = 900, fresh = false } = options;
  const context = await contextOf(dark, fresh);
  const page = await context.newPage();
  onTestFinished(async () => {
    await page.close();
    if (fresh) await context.close();
  });
  await page.setViewportSize({ width, height });
  page.setDefaultTimeout(15_000);
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

/** The document is never wider than the window: only code may scroll sideways, inside its own box. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate<number>("Math.max(0, document.documentElement.scrollWidth - innerWidth)");

export const focusedText = (page: Page): Promise<string> =>
  page.evaluate<string>("document.activeElement.textContent");
