import { type Attachment, checkAttachment } from "../../domain/attachment.ts";
import { refuseBlind } from "../../personas/model/takes-images.ts";
import type { TeamDefinition } from "../../team/definition/team-definition.ts";
import type { BlobStore } from "../../workspace/blobs.ts";

/** A file that belongs to the brief. */
export interface AttachmentContent {
  /** Without folders. */
  readonly name: string;
  readonly content: Uint8Array | string;
}

/** One that was sent before, by the id of its upload. */
export interface UploadedAttachment {
  readonly upload: string;
}

/** Keeps the content; a session names it by its hash. */
export async function attach(
  { name, content }: AttachmentContent,
  artifacts: Pick<BlobStore, "put">,
): Promise<Attachment> {
  const bytes = Buffer.from(content as Uint8Array);
  const mediaType = checkAttachment(name, bytes);
  return { name, mediaType, sha256: await artifacts.put(bytes), bytes: bytes.length };
}

/** Every persona of the team is asked with the attachments: one whose model cannot see them is an error at the start. */
export function refuseBlindModels(
  { phases, model: ofTeam }: TeamDefinition,
  model: string | undefined,
  attachments: readonly Attachment[],
): void {
  for (const { personas } of phases)
    for (const { name, work } of personas) {
      const asked = work.kind === "model" ? (work.model ?? model ?? ofTeam) : null;
      if (work.kind === "model" && asked !== null) refuseBlind(name, asked, work.images ?? null, attachments);
    }
}
