import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { png } from "../support/attachments.ts";
import { json, maestro, place } from "./support/packed.ts";
import { showSchema } from "./support/schemas.ts";

const team = `name: hello
phases:
  - name: greet
    personas: [greeter]
personas:
  greeter:
    instructions: Greet what you see.
`;

function folder() {
  const at = place();
  const image = png();
  writeFileSync(join(at.folder, "hello.yaml"), team);
  writeFileSync(join(at.folder, "plan.png"), image);
  writeFileSync(join(at.folder, "notes.txt"), "Say hello.\n");
  return { at, image };
}

const start = ["run", "Greet", "--team", "hello.yaml", "--key", "k"] as const;

test("run --attach takes images and texts, show lists them, and a resume by the key keeps them", async () => {
  const { at, image } = folder();
  const files = ["--attach", "plan.png", "--attach", "notes.txt"];
  const first = await maestro(at, ...start, "--model", "simulated", ...files);
  expect(first.code, first.stderr).toBe(0);
  expect(showSchema.parse(await json(at, "show", "k"))).toMatchObject({
    attachments: [
      { name: "plan.png", mediaType: "image/png", bytes: image.length },
      { name: "notes.txt", mediaType: "text/plain", bytes: 11 },
    ],
  });
  expect((await maestro(at, "show", "k")).stdout).toContain("Attached plan.png (image/png,");
  const again = await maestro(at, ...start, "--model", "simulated");
  expect(again.code, again.stderr).toBe(0);
  const other = await maestro(at, ...start, "--model", "simulated", "--attach", "notes.txt");
  expect(other.code).toBe(2);
  expect(other.stderr).toContain("which has other attachments.");
});

test("a file that cannot be attached, and a model that sees no images, are errors that cost nothing", async () => {
  const { at } = folder();
  writeFileSync(join(at.folder, "tool.zip"), Buffer.from([0x50, 0x4b, 3, 4, 0, 255]));
  const wrong = await maestro(at, ...start, "--model", "simulated", "--attach", "tool.zip");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("neither a PNG, JPEG, GIF or WebP image nor UTF-8 text");
  const missing = await maestro(at, ...start, "--model", "simulated", "--attach", "nothing.png");
  expect(missing.code).toBe(2);
  const blind = { ...at, env: { ...at.env, OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:1/v1" } };
  const refused = await maestro(
    blind,
    ...start,
    "--model",
    "openai-compatible/llama",
    "--attach",
    "plan.png",
  );
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(
    "openai-compatible/llama, the model of persona greeter, is not known to take images",
  );
  expect(refused.stderr).toContain("images: true");
  expect(await json(at, "sessions")).toEqual([]);
});

test("a background run has the attachments too", async () => {
  const { at } = folder();
  const begun = await maestro(
    at,
    ...start,
    "--model",
    "simulated",
    "--attach",
    "plan.png",
    "--detach",
    "--json",
  );
  expect(begun.code, begun.stderr).toBe(0);
  expect(await json(at, "show", "k")).toMatchObject({ attachments: [{ name: "plan.png" }] });
  const ended = async () => showSchema.parse(await json(at, "show", "k")).status;
  await expect.poll(ended).toBe("completed");
});
