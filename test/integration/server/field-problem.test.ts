import { z } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { fieldProblem } from "../../../src/server/field-problem.ts";

function messageOf(schema: z.ZodType, sent: unknown): string {
  const { error } = schema.safeParse(sent);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) throw new Error("it was accepted");
  return fieldProblem(issue, sent).message;
}

const described = "It does not have an allowed form; the OpenAPI document describes the allowed ones.";

test.each<[z.ZodType, unknown, string]>([
  [z.string(), 1, "It must be text."],
  [z.coerce.number(), "x", "It must be a number."],
  [z.number().int(), 1.5, "It must be a whole number."],
  [z.boolean(), "true", "It must be true or false."],
  [z.array(z.string()), {}, "It must be a list."],
  [z.record(z.string(), z.unknown()), [], "It must be an object."],
  [z.string().min(1), "", "It must have at least 1 character."],
  [z.string().max(3), "four", "It must have at most 3 characters."],
  [z.array(z.string()).max(1), ["a", "b"], "It must have at most 1 item."],
  [z.number().min(0.01), 0, "It must be at least 0.01."],
  [z.number().positive(), 0, "It must be more than 0."],
  [z.number().lt(5), 5, "It must be less than 5."],
  [z.number().multipleOf(5), 3, "It must be a multiple of 5."],
  [z.enum(["a", "b"]), "c", "It must be one of a, b."],
  [z.literal("a"), "c", "It must be a."],
  [z.iso.date(), "x", "It must be a day, such as 2026-11-15."],
  [z.string().regex(/^a/), "b", described],
  [z.string().refine(() => false), "b", described],
  [z.string().refine(() => false, "It must be better."), "b", "It must be better."],
  [z.never(), 1, "It must be left out."],
  [z.map(z.string(), z.string()), 1, described],
  [z.strictObject({ a: z.string() }), {}, "It is missing. It must be text."],
  [z.strictObject({}), { b: 1 }, "It is not a known field."],
  [z.union([z.string(), z.number()]), null, "It must be text."],
])("a wrong value is refused in plain words: case %#", (schema, sent, expected) => {
  expect(messageOf(schema, sent)).toBe(expected);
});
