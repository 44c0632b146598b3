import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { axe, axeSource, everyRule } from "./support/axe.ts";
import { overflowOf } from "./support/browser.ts";
import { describeSeeded, visit } from "./support/seeded.ts";

/** Each page, and a part that it has once it is loaded. */
const pages: readonly (readonly [path: string, sign: string])[] = [
  ["/", ".session-line"],
  ["/s/parking-1/run", ".stream-item"],
  ["/s/parking-1/run?table=1&persona=implementation/frontend_developer&show=contract", ".check-list"],
  ["/s/parking-1/run?show=attempts", ".attempt-list"],
  ["/s/parking-1/run?persona=requirements/requirement_analyst&show=conversation", ".talk-item"],
  ["/s/translation-all/run", ".squares rect"],
  ["/s/parking-payments", ".choice-body .plan"],
  ["/s/onboarding-copy", ".diff-line"],
  ["/s/ledger-migration", ".raise-stop"],
  ["/s/threat-model-q4", ".breaker-card"],
  ["/s/ev-chargers/artifacts?path=src/payments/service.ts", ".code-line"],
  ["/s/onboarding-copy/artifacts?path=docs/screens.md&with=phase:collect", ".diff-line"],
  ["/s/map-tiles-cache/checkpoints", ".checkpoint-table"],
  ["/s/parking-1/decisions", ".decision-list"],
  ["/s/parking-1/budget", ".budget-line"],
  ["/s/parking-1/brief", ".attachments img"],
  ["/usage", ".uplot"],
  ["/health", ".breaker-card"],
];

describeSeeded("every page", () => {
  test.each(pages)(
    "%s passes axe in both themes, obeys the content security policy and fits a phone",
    async (path, sign) => {
      const { page, faults } = await visit(path);
      await page.locator(sign).first().waitFor({ state: "attached" });
      await page.evaluate(axeSource);
      const found = await axe(page, everyRule);
      // The themes differ only in color.
      await page.evaluate("document.documentElement.dataset.theme = 'dark'");
      found.push(...(await axe(page, "['color-contrast']")));
      for (const width of [390, 320]) {
        await page.setViewportSize({ width, height: 844 });
        if (path.includes("/run")) await page.locator(".phase-list").waitFor();
        const overflow = await overflowOf(page);
        if (overflow > 0) found.push(`wider than ${width} px by ${overflow}`);
      }
      found.push(
        ...(await axe(page, "['target-size', 'button-name', 'link-name', 'scrollable-region-focusable']")),
      );
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    },
  );

  test("panels pass axe", async () => {
    const { page, faults } = await visit("/s/parking-payments/run");
    const found: string[] = [];
    const panels = [
      ["n", "Start a session"],
      ["f", "Fork parking-payments"],
      ["r", "Resume parking-payments"],
      ["?", "Keys"],
      ["Control+k", "Search or run a command"],
    ] as const;
    await page.locator(".session-tabs").waitFor();
    await page.evaluate(axeSource);
    for (const [key, name] of panels) {
      await page.keyboard.press(key);
      const panel = page.getByRole("dialog", { name });
      await panel.waitFor();
      found.push(...(await axe(page, everyRule)).map((violation) => `${name} ${violation}`));
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "detached" });
      // React listens to keys again after the paint that follows.
      await page.evaluate(
        "new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))",
      );
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("requests nothing from other servers", async () => {
    const asked: string[] = [];
    const { page, url } = await visit("/", {
      before: (page) => {
        page.on("request", (request) => asked.push(request.url()));
      },
    });
    await page.locator(".session-line").first().waitFor();
    await page.goto(`${url}/usage`);
    await page.locator(".uplot").waitFor();
    expect(asked.filter((address) => !address.startsWith(url))).toEqual([]);
  });

  test("first loads under 150 kB of script and style, 250 kB with the font", () => {
    const folder = join(import.meta.dirname, "../../../dist/dashboard");
    const html = readFileSync(join(folder, "index.html"), "utf8");
    const files = [...html.matchAll(/(?:src|href)="\/([^"]+\.(?:js|css|woff2))"/g)].map(
      ([, file = ""]) => file,
    );
    const sizes = files.map((file) => ({ file, bytes: gzipSync(readFileSync(join(folder, file))).length }));
    const sum = (of: typeof sizes) => of.reduce((total, { bytes }) => total + bytes, 0);
    expect(sizes.length).toBeGreaterThanOrEqual(4);
    expect(sum(sizes.filter(({ file }) => !file.endsWith(".woff2")))).toBeLessThan(150_000);
    expect(sum(sizes)).toBeLessThan(250_000);
  });
});
