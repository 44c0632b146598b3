import { expect, test } from "vitest";
import { Counter } from "../../../src/server/metrics/counter.ts";
import { exposition } from "../../../src/server/metrics/exposition.ts";
import { Histogram } from "../../../src/server/metrics/histogram.ts";
import { start, startServer, until } from "./support.ts";
import { failingTeam, quickRetries } from "./teams.ts";

test("names from outside cannot end a label, a line or the format", () => {
  const labels = { model: 'a"} 1\nevil_metric 666\r\n\\', persona: "\u001b[31m" };
  const text = exposition([{ name: "m", help: "h", type: "counter", samples: [{ labels, value: 1 }] }]);
  expect(text.split("\n")).toEqual([
    "# HELP m h",
    "# TYPE m counter",
    'm{model="a\\"} 1\\nevil_metric 666\\n\\\\",persona="\u001b[31m"} 1',
    "",
  ]);
});

test("numbers that are none are written as the format has them", () => {
  const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21, 0.1];
  const samples = values.map((value) => ({ value }));
  const text = exposition([{ name: "m", help: "h", type: "gauge", samples }]);
  expect(text.split("\n").slice(2, 7)).toEqual(["m NaN", "m +Inf", "m -Inf", "m 1e+21", "m 0.1"]);
});

test("a histogram's buckets add up, its bounds are inclusive, and what is beyond them is counted", () => {
  const histogram = new Histogram([1, 10]);
  for (const value of [0, 1, 1.5, 10, 11]) histogram.observe(value);
  expect(histogram.samples().map(({ labels, value }) => [labels?.["le"], value])).toEqual([
    ["1", 2],
    ["10", 4],
    ["+Inf", 5],
    [undefined, 23.5],
    [undefined, 5],
  ]);
});

test("a counter with endless labels stays bounded and loses no count", () => {
  const counter = new Counter();
  for (let count = 0; count < 5_000; count += 1) counter.add({ name: `n${count}` });
  counter.add({ name: "n0" });
  const samples = counter.samples();
  expect(samples.length).toBeLessThanOrEqual(1_001);
  expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(5_001);
  expect(samples[0]).toEqual({ labels: { name: "n0" }, value: 2 });
});

test("attempts, failures by category, sessions and requests are there to be scraped", async () => {
  const server = await startServer({ teams: [failingTeam], config: quickRetries });
  server.drive();
  const { id } = await start(server, { team: "failing" });
  await until(server, id, "parked");
  const response = await server.request("/metrics");
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  expect(text).toContain('maestro_attempts_total{outcome="failed"} 2');
  expect(text).toMatch(/maestro_failures_total\{category="[A-Z_]+"\} 2/);
  expect(text).toContain('maestro_sessions{status="parked"} 1');
  expect(text).toMatch(/maestro_http_requests_total\{method="POST",status="201"\} 1/);
  for (const line of text.trimEnd().split("\n"))
    expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? \S+)$/);
});
