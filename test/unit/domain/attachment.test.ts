import { describe, expect, test } from "vitest";
import { attachmentLimits, checkAttachment, checkAttachments } from "../../../src/domain/attachment.ts";
import { png } from "../../support/attachments.ts";

const text = (content: string): Buffer => Buffer.from(content);
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]);
const webp = Buffer.from("RIFF\x00\x00\x00\x00WEBPVP8 ", "latin1");

describe("an attachment", () => {
  test.each([
    ["plan.png", png(), "image/png"],
    ["plan.txt", png(), "image/png"],
    ["photo", jpeg, "image/jpeg"],
    ["moving.gif", Buffer.from("GIF89a\x01\x00", "latin1"), "image/gif"],
    ["small.webp", webp, "image/webp"],
    ["notes.md", text("# Größe\n"), "text/plain"],
    ["picture.svg", text("<svg onload='alert(1)'/>"), "text/plain"],
  ])("%s is what its bytes are, whatever its name says", (name, content, type) => {
    expect(checkAttachment(name, content)).toBe(type);
  });

  test.each([
    ["empty.txt", text(""), /it is empty/],
    [
      "archive.zip",
      Buffer.from("PK\x03\x04\x00\x00\xff", "latin1"),
      /neither a PNG, JPEG, GIF or WebP image nor/,
    ],
    ["paper.pdf", Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf", "latin1"), /neither/],
    ["zeros.txt", text("a\0b"), /neither/],
    ["long.txt", text("x".repeat(attachmentLimits.textBytes + 1)), /the limit of a text is 262144/],
    ["large.png", Buffer.concat([png(), Buffer.alloc(attachmentLimits.imageBytes)]), /the limit of an image/],
    ["../up.png", png(), /its name must have/],
    ['a"b.png', png(), /its name must have/],
    ["a\nb.png", png(), /its name must have/],
    ["a\u202eb.png", png(), /its name must have/],
    ["", png(), /its name must have/],
    ["n".repeat(201), png(), /its name must have/],
  ])("%j is refused with the reason", (name, content, reason) => {
    expect(() => checkAttachment(name, content)).toThrow(reason);
  });

  test("of a name that another one has is refused, and so are too many and too large ones", () => {
    const named = (name: string, bytes = 1) => ({ name, bytes });
    expect(() => checkAttachments([named("a"), named("a")])).toThrow(/another attachment has the same name/);
    const many = Array.from({ length: attachmentLimits.count + 1 }, (_, number) => named(`${number}`));
    expect(() => checkAttachments(many)).toThrow(/11 attachments; the limit is 10/);
    const half = attachmentLimits.allBytes / 2 + 1;
    expect(() => checkAttachments([named("a", half), named("b", half)])).toThrow(/bytes together/);
    expect(() => checkAttachments(many.slice(1))).not.toThrow();
  });
});
