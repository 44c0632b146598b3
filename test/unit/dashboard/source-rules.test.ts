import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../../dashboard");

const sources = ["src", "seed"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(?:tsx?|css)$/.test(path))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(root, folder, path), "utf8") })),
);

const breaking = (pattern: RegExp, files = sources) =>
  files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? `${path}:${index + 1}: ${line.trim()}` : [])),
  );

test("nothing from outside can become markup", () => {
  expect(
    breaking(
      /dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|new Function|\beval\(/,
    ),
  ).toEqual([]);
});

test("no style attributes: the page's policy would refuse them", () => {
  expect(breaking(/\bstyle=\{/)).toEqual([]);
  expect(breaking(/setAttribute\(\s*["']style/)).toEqual([]);
});

test("colors come from the tokens, so that both themes and the contrast check cover them", () => {
  const styles = sources.filter(({ path }) => path.endsWith(".css") && !path.endsWith("tokens.css"));
  expect(breaking(/#[0-9a-f]{3,8}\b(?![-\w"')])/i, styles)).toEqual([]);
});

test("nothing is fetched from elsewhere", () => {
  expect(
    breaking(
      /https?:\/\/(?!evil\.example|127\.0\.0\.1|localhost|www\.w3\.org)/,
      sources.filter(({ path }) => !path.endsWith(".test.ts")),
    ),
  ).toEqual([]);
});

test("files stay small", () => {
  const long = sources.filter(
    ({ path, text }) => text.split("\n").length > (path.endsWith(".css") ? 500 : 400),
  );
  expect(long.map(({ path }) => path)).toEqual([]);
});
