import { InputInvalid } from "./errors.ts";

export const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export const attachmentTypes = [...imageTypes, "text/plain"] as const;
export type AttachmentType = (typeof attachmentTypes)[number];

/** A file that belongs to a brief. Its content is an artifact. */
export interface Attachment {
  readonly name: string;
  readonly mediaType: AttachmentType;
  readonly sha256: string;
  readonly bytes: number;
}

export const attachmentLimits = {
  count: 10,
  /** The smallest of the providers' limits is 5 MB in base64. */
  imageBytes: 3_750_000,
  /** A text is part of every prompt. */
  textBytes: 256 * 1024,
  /** Most providers refuse requests of more than 20 MB. */
  allBytes: 10_000_000,
  nameLength: 200,
} as const;

export const isImage = ({ mediaType }: Pick<Attachment, "mediaType">): boolean => mediaType !== "text/plain";

/** Control characters, and those that change the direction of a text. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Judged by its bytes: the name and the sender's type prove nothing. */
export function checkAttachment(name: string, content: Uint8Array): AttachmentType {
  const { nameLength, imageBytes, textBytes } = attachmentLimits;
  if (name.trim() === "" || name.length > nameLength || unprintable.test(name) || /[/\\<>"]/.test(name))
    throw refused(name, `its name must have 1 to ${nameLength} printable characters and none of / \\ < > "`);
  if (content.byteLength === 0) throw refused(name, "it is empty");
  const image = imageTypeOf(content);
  const limit = image === undefined ? textBytes : imageBytes;
  const mediaType = image ?? (content.byteLength > limit || isText(content) ? "text/plain" : undefined);
  if (mediaType === undefined)
    throw refused(
      name,
      "it is neither a PNG, JPEG, GIF or WebP image nor UTF-8 text",
      "Convert it, or put it into the workspace.",
    );
  if (content.byteLength > limit)
    throw refused(
      name,
      `it has ${content.byteLength} bytes, and the limit of ${image === undefined ? "a text" : "an image"} is ${limit}`,
      "Make it smaller, or put it into the workspace.",
    );
  return mediaType;
}

/** Checks all attachments of one brief together. */
export function checkAttachments(attachments: readonly Pick<Attachment, "name" | "bytes">[]): void {
  const { count, allBytes } = attachmentLimits;
  if (attachments.length > count)
    throw new InputInvalid(`The brief has ${attachments.length} attachments; the limit is ${count}.`, {
      advice: "Put further files into the workspace.",
      details: { attachments: attachments.length },
    });
  const bytes = attachments.reduce((sum, each) => sum + each.bytes, 0);
  if (bytes > allBytes)
    throw new InputInvalid(`The attachments have ${bytes} bytes together; the limit is ${allBytes}.`, {
      advice: "Make them smaller, or put some into the workspace.",
      details: { attachments: attachments.length },
    });
  const names = attachments.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw refused(twice, "another attachment has the same name", "Rename one of them.");
}

const refused = (name: string, why: string, advice = "Leave it out."): InputInvalid =>
  new InputInvalid(`The attachment ${JSON.stringify(name.slice(0, 100))} is refused: ${why}.`, {
    advice,
    details: { attachment: name.slice(0, 100) },
  });

function imageTypeOf(content: Uint8Array): AttachmentType | undefined {
  const head = Buffer.from(content.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : undefined;
}

function isText(content: Uint8Array): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(content).includes("\0");
  } catch {
    return false;
  }
}
