import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/domain/canonical.ts";
import { defineTeam, durableModel, persona, phase } from "../../../src/index.ts";
import { canonicalCall } from "../../../src/personas/model/canonical-call.ts";
import { modelName } from "../../../src/personas/model/model-object.ts";
import type { CallOptions } from "../../../src/personas/model/sdk-types.ts";
import { calls, ModelHive, protocols } from "../../support/model-hive.ts";
import type { Reply } from "../../support/paid-models.ts";
import { sendAgain, sentCalls } from "../../support/sent-calls.ts";
import { answer, ownModel } from "./own-models.ts";
import { TeamPlace } from "./place.ts";

const long = "A line of a long file.\n".repeat(1_000);

/** Writes a long file, reads it twice and submits. */
const reply: Reply = ({ answersBefore }) =>
  [
    calls("write_file", { path: "a.txt", content: long }),
    calls("read_file", { path: "a.txt" }),
    calls("list_files", {}),
    calls("read_file", { path: "a.txt" }),
  ][answersBefore] ?? calls("submit", { summary: "done" });

const writer = defineTeam("writers", {
  phases: ["a", "b"].map((name) =>
    phase(name, { personas: [persona(`writer-${name}`, { instructions: "Write." })] }),
  ),
});

function filesIn(folder: string): { readonly path: string; readonly bytes: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path, bytes: statSync(path).size }));
}

describe("the messages of a model call", () => {
  it.each(protocols)("are read back as they were sent to %s", async (model) => {
    const hive = await ModelHive.open(reply, { model });
    const { result } = await hive.run(writer);
    expect(result.status).toBe("completed");
    const sent = await sentCalls(hive.stateDir, result.id);
    expect(sent).toHaveLength(10);
    expect(await sendAgain(sent)).toEqual(hive.models.log.map(({ hash }) => hash));
  });

  it("are stored for a failed call, and once for the attempts that repeat it", async () => {
    const refuse = { fault: "refuse", status: 500, code: "down", message: "down" } as const;
    const hive = await ModelHive.open(
      (asked, earlier) => (earlier.length === 2 || earlier.length === 4 ? refuse : reply(asked, earlier)),
      { model: protocols[0] },
    );
    const { result } = await hive.run(writer);
    expect(result.status).toBe("completed");
    const sent = await sentCalls(hive.stateDir, result.id);
    const failed = sent.filter(({ row }) => row.body.startsWith('{"outage":true'));
    expect(failed).toHaveLength(2);
    expect(await sendAgain(sent)).toEqual(hive.models.log.map(({ hash }) => hash));
    const bytes = sent.reduce((sum, { row }) => sum + row.body.length, 0);
    // Twelve calls; each long message is in a blob.
    expect(bytes).toBeLessThan(60_000 + 2 * long.length);
  });

  it("belong to a fork as well, after its parent is pruned", async () => {
    const hive = await ModelHive.open(reply, { model: protocols[2] });
    const { result } = await hive.run(writer);
    const fork = await hive.maestro.fork(result.id, { at: "b" });
    expect((await (await hive.maestro.resume(fork.id)).result()).status).toBe("completed");
    const parent = (await sentCalls(hive.stateDir, result.id)).map(({ row, messages }) => [
      row.name,
      messages,
    ]);
    await hive.maestro.prune({ keep: 1 });
    const sent = await sentCalls(hive.stateDir, fork.id);
    expect(sent.length).toBeGreaterThanOrEqual(10);
    expect(sent.slice(0, 10).map(({ row, messages }) => [row.name, messages])).toEqual(parent);
  });

  it("are refused when a blob is damaged", async () => {
    const hive = await ModelHive.open(reply, { model: protocols[0] });
    const { result } = await hive.run(writer);
    const [largest] = filesIn(join(hive.stateDir, "artifacts")).sort((a, b) => b.bytes - a.bytes);
    rmSync(largest?.path ?? "");
    await expect(sentCalls(hive.stateDir, result.id)).rejects.toMatchObject({
      code: "ARTIFACT_CORRUPT",
    });
  });
});

describe("the messages of an agent's own model", () => {
  it("are read back as the model got them, also from two parallel conversations", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const got: string[] = [];
    const model = ownModel(async (options) => {
      got.push(canonicalJson(canonicalCall(modelName(model), options)));
      return answer(10, 5);
    });
    const talk = async (durable: typeof model, name: string, tools: CallOptions["tools"]) => {
      const prompt: CallOptions["prompt"] = [{ role: "system", content: `You are ${name}.` }];
      for (let turn = 0; turn < 6; turn += 1) {
        const text = turn === 2 ? long + name : `${name} ${turn}`;
        prompt.push({ role: "user", content: [{ type: "text", text }] });
        const isBare = turn === 4;
        await durable.doGenerate({
          prompt: [...prompt],
          maxOutputTokens: turn === 3 ? 20 : 10,
          ...(tools && !isBare && { tools }),
        });
      }
      // A conversation that forgets its beginning.
      await durable.doGenerate({ prompt: prompt.slice(3), maxOutputTokens: 10 });
    };
    const tool = { type: "function", name: "look", inputSchema: { type: "object" } } as const;
    const agent = persona("agent", {
      run: async (context) => {
        const durable = durableModel(model, context);
        await Promise.all([talk(durable, "one", [tool]), talk(durable, "two", undefined)]);
        return { summary: "done" };
      },
    });
    const team = defineTeam("own", { phases: [phase("only", { personas: [agent] })] });
    const session = await maestro.start(team, { brief: "x" });
    expect((await session.result()).status).toBe("completed");
    const sent = await sentCalls(place.stateDir, session.id);
    const read = sent.map(({ messages, tools, settings }) =>
      canonicalJson({ ...settings, prompt: messages, ...(tools && { tools }) }),
    );
    expect(read.sort()).toEqual(got.sort());
    // 14 calls, two system messages, twelve turns: without the earlier calls it would be five times as much.
    expect(sent.filter(({ row }) => row.body.includes('"after"')).length).toBeGreaterThanOrEqual(10);
    expect(
      filesIn(join(place.stateDir, "artifacts")).filter(({ bytes }) => bytes > long.length),
    ).toHaveLength(2);
  });
});
