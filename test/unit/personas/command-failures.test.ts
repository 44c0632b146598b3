import { describe, expect, test } from "vitest";
import { AgentOutput } from "../../../src/personas/command/agent-output.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { agent, failureOf, place } from "./command-agent-place.ts";

describe("a command that fails", () => {
  test("says why, at the end of what it printed", async () => {
    const { run } = place(
      agent(`console.error("x".repeat(9000) + " cannot find the plan"); process.exit(3)`),
    );
    const error = await failureOf(run);
    expect(error.message).toMatch(/ended with 3: x+ cannot find the plan$/);
    expect(error.message.length).toBeLessThan(2200);
  });

  test.each([
    ["Credit balance is too low", { category: "AUTH", recoverable: false }],
    ["API Error: 529 overloaded", { category: "API_ERROR", outage: true }],
    ["Invalid API key · Please run /login", { category: "AUTH", recoverable: false }],
  ])("reports the agent's own message: %s", async (result, expected) => {
    const event = {
      type: "result",
      subtype: "success",
      is_error: true,
      result,
      session_id: "s",
      usage: { input_tokens: 5, output_tokens: 1 },
    };
    const { run, steps } = place(
      agent(`console.log(${JSON.stringify(JSON.stringify(event))}); process.exit(1)`),
    );
    expect(classifyError(await failureOf(run))).toMatchObject(expected);
    // Usage before the failure counts.
    expect(steps.settled[0]?.spent.usage).toMatchObject({ inputTokens: 5, outputTokens: 1 });
  });

  test("an agent that ends at its own limit in dollars is out of budget, and has not failed", async () => {
    const event = {
      type: "result",
      subtype: "error_max_budget_usd",
      is_error: true,
      errors: ["Reached maximum budget ($0.013)"],
      session_id: "s",
      total_cost_usd: 0.0131,
      usage: { input_tokens: 5, output_tokens: 1 },
    };
    const { run, steps } = place(
      agent(`console.log(${JSON.stringify(JSON.stringify(event))}); process.exit(1)`),
    );
    const error = await failureOf(run);
    expect(error).toMatchObject({ name: "BudgetExceeded", details: { unit: "usd", used: 13_100 } });
    expect(error.message).toMatch(
      /ended at its own limit: Reached maximum budget \(\$0\.013\)\. This run took \$0\.0131\.$/,
    );
    expect(steps.settled[0]?.spent).toMatchObject({ costMicroUsd: 13_100 });
  });

  test("a subscription's limit is a rate limit, until the time it says", async () => {
    const resets = Math.floor(Date.now() / 1000) + 7200;
    const said = (event: object) =>
      place(agent(`console.log(${JSON.stringify(JSON.stringify(event))}); process.exit(1)`)).run;
    const failed = { type: "result", subtype: "success", is_error: true, session_id: "s" };
    const claude = classifyError(
      await failureOf(said({ ...failed, result: `Claude AI usage limit reached|${resets}` })),
    );
    expect(claude).toMatchObject({ category: "RATE_LIMIT", outage: true });
    expect(claude.retryAfterMs).toBeGreaterThan(7_100_000);
    expect(claude.retryAfterMs).toBeLessThanOrEqual(7_200_000);
    const limits = { type: "rate_limit_event", session_id: "s" };
    const info = { rate_limit_info: { status: "rejected", resetsAt: resets } };
    const output = new AgentOutput({ onText: () => {} });
    output.add(`${JSON.stringify({ ...limits, ...info })}\n`);
    output.add(JSON.stringify({ ...failed, result: "You've hit your limit · resets 3pm" }));
    expect(output.finish().error).toMatchObject({ status: 429, retryAt: resets * 1000 });
    const codex = said({
      type: "turn.failed",
      error: { message: "You've hit your usage limit. Try later." },
    });
    expect(classifyError(await failureOf(codex))).toMatchObject({ category: "RATE_LIMIT" });
  });

  test.each([
    "FAIL login.test: expected 200, got 401 unauthorized",
    "1 of 40 tests failed: request timed out is not handled",
    "the draft says: API Error: 529 overloaded",
    "payment required",
    "Invalid API key",
    "getaddrinfo ENOTFOUND api.example.org",
  ])("output of the work is not read as a provider error: %s", async (words) => {
    const printed = await failureOf(
      place(agent(`console.error(${JSON.stringify(words)}); process.exit(1)`)).run,
    );
    const event = {
      type: "result",
      subtype: "error_max_turns",
      is_error: true,
      session_id: "s",
      result: `I saw: ${words}`,
    };
    const told = await failureOf(place(agent(`console.log(${JSON.stringify(JSON.stringify(event))})`)).run);
    for (const error of [printed, told])
      expect(classifyError(error)).toMatchObject({ recoverable: true, outage: false });
  });

  test("nothing of what it left is taken over", async () => {
    const { run, files } = place(agent(`fs.writeFileSync("half.txt", "half"); process.exit(1)`));
    await failureOf(run);
    expect(files.contents).toEqual({});
  });

  test("that is not there, and one that does not end", async () => {
    const missing = await failureOf(place(["no-such-agent-here", "-p"]).run);
    expect(classifyError(missing)).toMatchObject({ category: "IMPORT", code: "ENOENT" });
    const slow = await failureOf(place(agent("setInterval(() => {}, 1000)"), { timeoutMs: 300 }).run);
    expect(classifyError(slow)).toMatchObject({ category: "TIMEOUT", outage: true });
  });

  test("is ended by an abort", async () => {
    const controller = new AbortController();
    const reason = new Error("stop now");
    const { run, heard } = place(agent(`console.log("up"); setInterval(() => {}, 1000)`), {
      signal: controller.signal,
    });
    const ended = failureOf(run);
    while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(reason);
    expect(await ended).toBe(reason);
  });
});
