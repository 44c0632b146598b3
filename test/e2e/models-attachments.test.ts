import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineTeam, open, persona, phase } from "../../src/index.ts";
import { png } from "../support/attachments.ts";
import { calls, ModelHive } from "../support/model-hive.ts";

const image = png(64, 64);
const plan = { name: "plan.png", content: image };
const notes = { name: "notes.txt", content: "Forty books, no more.\n" };

interface Seen {
  readonly model?: string;
  readonly images?: boolean;
}

const looker = ({ model, images }: Seen = {}) =>
  persona("looker", {
    instructions: "Look at the plan.",
    ...(model !== undefined && { model }),
    ...(images !== undefined && { images }),
  });

const team = (seen: Seen = {}) =>
  defineTeam("lookers", {
    phases: [
      phase("look", { personas: [looker(seen)] }),
      phase("tell", {
        personas: [persona("teller", { instructions: "Tell what is there.", images: false })],
      }),
    ],
  });

const submits = () => calls("submit", { summary: "seen" });
const encoded = image.toString("base64");

/** The image as each protocol has it. */
function imagesIn(text: string): number {
  return text.split(encoded).length - 1;
}

describe.each(["openai/gpt-5", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro"])(
  "a brief with attachments for %s",
  (model) => {
    test("is shown with its image and its text, and the journal has neither inline", async () => {
      const hive = await ModelHive.open(submits);
      const { result, view } = await hive.run(team(), { model, attachments: [plan, notes] });
      expect(result.status).toBe("completed");
      const [look, tell] = hive.models.server.requests.map(({ text }) => text);
      expect(imagesIn(look ?? ""), "the image is sent once").toBe(1);
      expect(look).toContain("Forty books, no more.");
      expect(imagesIn(tell ?? ""), "a persona without images").toBe(0);
      expect(tell).toContain("an image, which you are not shown");
      expect(view.attachments).toMatchObject([
        { name: "plan.png", mediaType: "image/png", bytes: image.length },
        { name: "notes.txt", mediaType: "text/plain" },
      ]);
      const [shown] = view.attachments;
      expect(await hive.maestro.artifact(result.id, shown?.sha256 ?? "")).toEqual(image);
      await hive.maestro.close();
      const database = readFileSync(join(hive.stateDir, "maestro.db"));
      expect(database.includes(encoded.slice(0, 60)), "base64 of the image").toBe(false);
      expect(database.includes(image.subarray(0, 60)), "bytes of the image").toBe(false);
      expect(database.includes(shown?.sha256 ?? "-")).toBe(true);
    });
  },
);

describe("a model that cannot see images", () => {
  const blind = "openai-compatible/llama-3.3-70b";

  test("is refused before a session exists or anything is paid", async () => {
    const hive = await ModelHive.open(submits);
    const start = hive.maestro.start(team(), { brief: "Look.", model: blind, attachments: [plan] });
    await expect(start).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message:
        "The brief has the image plan.png, and openai-compatible/llama-3.3-70b, the model of persona looker, is not known to take images.",
    });
    expect(hive.models.log).toEqual([]);
    expect(await hive.maestro.sessions()).toEqual([]);
  });

  test("is believed when its persona says that it takes them, and spared when it needs none", async () => {
    const hive = await ModelHive.open(submits);
    const seeing = await hive.run(team({ images: true }), {
      model: blind,
      attachments: [plan],
      key: "seeing",
    });
    expect(seeing.result.status).toBe("completed");
    expect(imagesIn(hive.models.server.requests[0]?.text ?? "")).toBe(1);
    const spared = await hive.run(team({ images: false }), { model: blind, attachments: [plan], key: "no" });
    expect(spared.result.status).toBe("completed");
    expect(hive.models.server.requests.filter(({ text }) => imagesIn(text) > 0)).toHaveLength(1);
  });

  test("gets attached texts as any other", async () => {
    const hive = await ModelHive.open(submits);
    const { result } = await hive.run(team(), { model: blind, attachments: [notes] });
    expect(result.status).toBe("completed");
    expect(hive.models.server.requests[0]?.text).toContain("Forty books, no more.");
  });
});

test.each([
  ["a text in place of the list", "plan.png", /attachments is not a list/],
  ["a path in place of an attachment", ["plan.png"], /is not an object/],
  ["no content", [{ name: "plan.png" }], /no name or no content/],
  ["a content that is neither text nor bytes", [{ name: "plan.png", content: 7 }], /no name or no content/],
  ["a misspelled key", [{ name: "plan.png", contents: image }], /contents/],
  ["the id of no upload", [{ upload: "nothing" }], /There is no upload "nothing"/],
])("a start with %s is refused before a session exists", async (_, attachments, reason) => {
  const hive = await ModelHive.open(submits);
  const start = hive.maestro.start(team(), { brief: "Look.", attachments: attachments as never });
  await expect(start).rejects.toThrow(reason);
  expect(await hive.maestro.sessions()).toEqual([]);
});

describe("attachments belong to the session", () => {
  const model = "anthropic/claude-sonnet-4-5";

  test("a start with the same key and other attachments is refused; without any, it is the same session", async () => {
    const hive = await ModelHive.open(submits);
    const options = { model, key: "k" };
    const { result } = await hive.run(team(), { ...options, attachments: [plan] });
    const other = { ...options, brief: "Do it.", attachments: [{ ...plan, content: png(8, 8, 1) }] };
    await expect(hive.maestro.start(team(), other)).rejects.toMatchObject({ code: "SESSION_CONFLICT" });
    const again = await hive.run(team(), options);
    expect(again.result.id).toBe(result.id);
    expect(hive.models.log).toHaveLength(2);
  });

  test("a recorded call with an image is found again after a pause, and is not paid twice", async () => {
    const hive = await ModelHive.open(({ answersBefore, phase: at }) =>
      at === "look" && answersBefore === 0
        ? calls("write_file", { path: "a.txt", content: "a\n" })
        : calls("submit", { summary: "seen" }),
    );
    let paused = false;
    hive.models.onAnswer = () => {
      if (!paused) void hive.maestro.pause("p");
      paused = true;
    };
    const first = await hive.run(team(), { model, key: "p", attachments: [plan] });
    expect(first.result.status).toBe("paused");
    const session = await hive.maestro.resume("p");
    expect((await session.result()).status).toBe("completed");
    const hashes = hive.models.log.map(({ hash }) => hash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hive.models.log).toHaveLength(3);
  });

  test("a fork shows them again, and an imported session has them on the other machine", async () => {
    const hive = await ModelHive.open(submits);
    const { result } = await hive.run(team(), { model, attachments: [plan] });
    const fork = await hive.maestro.fork(result.id, { at: "look", fresh: true });
    expect((await (await hive.maestro.resume(fork.id)).result()).status).toBe("completed");
    expect(hive.models.server.requests.filter(({ text }) => imagesIn(text) > 0)).toHaveLength(2);

    const file = join(hive.stateDir, "session.export");
    await hive.maestro.exportCheckpoints(fork.id, file);
    const there = await open({ stateDir: join(hive.stateDir, "there"), teams: [team()] });
    try {
      await there.importCheckpoints(file);
      const [shown] = (await there.show(fork.id)).attachments;
      expect(await there.artifact(fork.id, shown?.sha256 ?? "")).toEqual(image);
    } finally {
      await there.close();
    }
  });

  test("a session whose database is lost still has them, and its next call shows the image", async () => {
    const hive = await ModelHive.open(submits);
    const { id } = await hive.maestro.create(team(), {
      brief: "Look.",
      model,
      key: "k",
      attachments: [plan],
    });
    await hive.maestro.close();
    for (const name of readdirSync(hive.stateDir))
      if (name.startsWith("maestro.db")) rmSync(join(hive.stateDir, name));
    const again = await open({ stateDir: hive.stateDir, teams: [team()] });
    try {
      expect((await (await again.resume(id)).result()).status).toBe("completed");
      expect(imagesIn(hive.models.server.requests[0]?.text ?? "")).toBe(1);
    } finally {
      await again.close();
    }
  });

  test("an attachment that is damaged on disk stops the session, and no model is asked without it", async () => {
    const hive = await ModelHive.open(submits);
    const { id } = await hive.maestro.create(team(), { brief: "Look.", model, attachments: [plan] });
    const [shown] = (await hive.maestro.show(id)).attachments;
    const hash = shown?.sha256 ?? "";
    writeFileSync(join(hive.stateDir, "artifacts", hash.slice(0, 2), hash), "changed");
    await expect((await hive.maestro.resume(id)).result()).rejects.toMatchObject({
      code: "ARTIFACT_CORRUPT",
    });
    expect(hive.models.log).toEqual([]);
  });
});
