import { describe, expect, test } from "vitest";
import { htmlToText } from "../../../src/run/programs/html-text.ts";

const base = new URL("https://docs.example/guide/");

describe("the text of a page", () => {
  test("has its headings, paragraphs, lists and tables, and no code of the page", () => {
    const html = `<!DOCTYPE html><html><head><title>Guide</title><style>p { color: red }</style>
      <script>if (a < b) alert("</p>")</script></head>
      <body><h1>Install   it</h1><p>First,
      run <b>npm</b>&nbsp;ci.<br>Then wait.</p><!-- <p>hidden</p> -->
      <ul><li>one</li><li>two</li></ul>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>`;
    expect(htmlToText(html)).toBe(
      "Guide\n\n# Install it\n\nFirst, run npm ci.\nThen wait.\n\n- one\n- two\n\na | b\n1 | 2",
    );
  });

  test("has the whole addresses of its links, and none that run code", () => {
    const html =
      '<p><a href="../api?a=1&amp;b=2">API</a>, <a href=\'#top\'>top</a>, <a href="javascript:alert(1)">click</a>, <a title="a > b" href=/x>x</a></p>';
    expect(htmlToText(html, base)).toBe(
      "API (https://docs.example/api?a=1&b=2), top, click, x (https://docs.example/x)",
    );
  });

  test("keeps the lines of code", () => {
    expect(htmlToText("<p>Run</p><pre><code>if (a &lt; b) {\n  go();\n}</code></pre><p>now</p>")).toBe(
      "Run\n\nif (a < b) {\n  go();\n}\n\nnow",
    );
  });

  test.each([
    ["&amp;lt; &#65;&#x42; &eacute; &unknown; AT&T &#0; &#xD800;", "&lt; AB é &unknown; AT&T \ufffd \ufffd"],
    ["1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
    ["<p>a<p>b", "a\n\nb"],
    ["a<script>never closed", "a"],
    ["a<!-- never closed", "a"],
    ['a<b title="never closed>b</b>', "a"],
    ["a</a></pre></p>b", "a\n\nb"],
    ["İstanbul<SCRIPT>x</SCRIPT>İzmir", "İstanbulİzmir"],
    ["", ""],
  ])("of %j is %j", (html, text) => {
    expect(htmlToText(html, base)).toBe(text);
  });

  test.each([
    ["open tags", "<div "],
    ["open quotes", '<a href="'],
    ["open comments", "<!--"],
    ["open scripts", "<script"],
    ["nested lists", "<ul><li>"],
    ["links", "<a href=x>"],
    ["ampersands", "&#"],
    ["angles", "<"],
  ])("takes time in proportion to its length, also of two million characters of %s", (_, part) => {
    const began = process.cpuUsage();
    htmlToText(part.repeat(2_000_000 / part.length), base);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1e6).toBeLessThan(10);
  });
});
