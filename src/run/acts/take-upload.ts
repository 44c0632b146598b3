import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type Attachment, attachmentLimits } from "../../domain/attachment.ts";
import type { Clock } from "../../domain/clock.ts";
import { newId } from "../../domain/ids.ts";
import { toManifest } from "../../domain/tree.ts";
import type { UploadSource } from "../../journal/journal.ts";
import type { Blobs } from "../../store/blobs.ts";
import { type Upload, type Uploads, uploadLifeMs } from "../../store/uploads.ts";
import { attach } from "./attach.ts";

export const maxUploadBytes = 512 * 1024 * 1024;
/** The session's first row stays readable. */
const mostListed = 1_000;

/** An upload that was taken in, for the caller. */
export interface TakenUpload {
  readonly id: string;
  readonly format: UploadSource["upload"]["format"];
  readonly bytes: number;
  readonly files: number;
  readonly leftOut: UploadSource["leftOut"];
  readonly expiresAt: number;
}

/**
 * Takes the files of an archive in, for sessions to begin with. The archive itself is not kept. One that is refused leaves
 * nothing: its blobs are committed only when all of it was read.
 */
export async function takeUpload(
  body: AsyncIterable<Uint8Array>,
  {
    uploads,
    artifacts,
    clock,
  }: { readonly uploads: Uploads; readonly artifacts: Blobs; readonly clock: Clock },
): Promise<TakenUpload> {
  await uploads.removeExpired(clock.now());
  const { readArchive } = await import("../../workspace/archive/read-archive.ts");
  return uploads.receive(body, maxUploadBytes, clock.now(), async (path, bytes) => {
    await using batch = await artifacts.batch();
    const { format, tree, leftOut } = await readArchive(path, batch);
    const references = await batch.commit();
    // Stored again even if it is known: retention counts from here.
    const hash = await artifacts.put(toManifest(tree));
    const now = clock.now();
    const id = newId(now);
    const source: UploadSource = {
      upload: { id, format, bytes, sha256: await hashOf(path) },
      tree: hash,
      leftOut: leftOut.slice(0, mostListed),
    };
    const upload: Upload = { id, source, artifacts: [...references, hash] };
    await uploads.keep(upload);
    return { id, format, bytes, files: tree.size, leftOut: source.leftOut, expiresAt: now + uploadLifeMs };
  });
}

/** An attachment that was taken in, for the caller. */
export interface TakenAttachment extends Attachment {
  readonly id: string;
  readonly expiresAt: number;
}

/** Takes one file in that belongs to a brief. */
export async function takeAttachment(
  name: string,
  body: AsyncIterable<Uint8Array>,
  {
    uploads,
    artifacts,
    clock,
  }: { readonly uploads: Uploads; readonly artifacts: Blobs; readonly clock: Clock },
): Promise<TakenAttachment> {
  await uploads.removeExpired(clock.now());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > attachmentLimits.imageBytes) break;
  }
  const attachment = await attach({ name, content: Buffer.concat(chunks) }, artifacts);
  const now = clock.now();
  const id = newId(now);
  await uploads.keep({ id, attachment, artifacts: [attachment.sha256] });
  return { id, ...attachment, expiresAt: now + uploadLifeMs };
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
