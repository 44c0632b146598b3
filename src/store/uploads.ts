import { createWriteStream } from "node:fs";
import { readdir, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Attachment } from "../domain/attachment.ts";
import { InputInvalid } from "../domain/errors.ts";
import { idTime, isSessionId, newId } from "../domain/ids.ts";
import { parseJson } from "../domain/json.ts";
import type { Source } from "../journal/journal.ts";
import { source as sourceSchema } from "../journal/source.ts";
import { attachment as attachmentSchema } from "../journal/values.ts";
import { makeDirectoryDurably, readFileBounded, storageFailed, writeDurably } from "./durable-file.ts";

/** As long as its files are kept without a session that references them. */
export const uploadLifeMs = 12 * 3_600_000;
const recordSuffix = ".json";
const partSuffix = ".part";
const maxRecordBytes = 4 * 1024 * 1024;

/** An upload: the files of an archive that sessions can start with, or an attachment of a brief. */
export interface Upload {
  readonly id: string;
  readonly source?: Source;
  readonly attachment?: Attachment;
  /** Hashes that a session must reference. */
  readonly artifacts: readonly string[];
}

export interface WaitingUpload {
  readonly id: string;
  readonly receivedAt: number;
  /** The size of its record. Its files are artifacts. For a part that is still arriving, the bytes so far. */
  readonly bytes: number;
  readonly isPart: boolean;
}

/** Records of uploads in a folder of the state directory. Their age is in their ids. */
export class Uploads {
  readonly #folder: string;

  constructor(stateDirectory: string) {
    this.#folder = join(stateDirectory, "uploads");
  }

  /** Writes the body to a file that is deleted after `use`. Refuses a larger body. */
  async receive<T>(
    body: AsyncIterable<Uint8Array>,
    maxBytes: number,
    now: number,
    use: (path: string, bytes: number) => Promise<T>,
  ): Promise<T> {
    await makeDirectoryDurably(this.#folder);
    const path = join(this.#folder, newId(now) + partSuffix);
    try {
      const bytes = await this.#write(body, maxBytes, path);
      return await use(path, bytes);
    } finally {
      await rm(path, { force: true });
    }
  }

  async #write(body: AsyncIterable<Uint8Array>, maxBytes: number, path: string): Promise<number> {
    let bytes = 0;
    const bounded = async function* () {
      for await (const chunk of body) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes)
          throw new InputInvalid(`The archive has more than ${maxBytes} bytes.`, {
            advice: "Leave out what the work does not need, such as installed packages.",
            details: { maxBytes },
          });
        yield chunk;
      }
    };
    try {
      await pipeline(Readable.from(bounded()), createWriteStream(path, { flags: "wx", mode: 0o600 }));
    } catch (error) {
      throw storageFailed(path, error);
    }
    return bytes;
  }

  /** Durable when it returns. */
  async keep(upload: Upload): Promise<void> {
    await makeDirectoryDurably(this.#folder);
    await writeDurably(this.#record(upload.id), JSON.stringify(upload));
  }

  async find(id: string, now: number): Promise<Upload & { readonly source: Source }> {
    const upload = await this.#find(id, now, { what: "archive", field: "upload" });
    const { source } = upload;
    if (source !== undefined) return { ...upload, source };
    throw new InputInvalid(`Upload ${id} is the attachment of a brief, not an archive.`, {
      advice: "Name it in `attachments`, or send an archive.",
      details: { upload: id },
    });
  }

  async findAttachment(id: string, now: number): Promise<Attachment> {
    const { attachment } = await this.#find(id, now, { what: "attachment", field: "attachment" });
    if (attachment !== undefined) return attachment;
    throw new InputInvalid(`Upload ${id} is an archive, not the attachment of a brief.`, {
      advice: "Send the file itself, with its name: POST /v1/uploads?name=<file>.",
      details: { attachment: id },
    });
  }

  async #find(
    id: string,
    now: number,
    { what, field }: { readonly what: string; readonly field: string },
  ): Promise<Upload> {
    const isKnown = isSessionId(id) && idTime(id) > now - uploadLifeMs;
    const found = isKnown ? await readFileBounded(this.#record(id), maxRecordBytes) : "missing";
    if (typeof found !== "string") return readRecord(found, id);
    throw new InputInvalid(`There is no upload "${id.slice(0, 100)}".`, {
      advice: `Send the ${what} again: an upload is kept for ${uploadLifeMs / 3_600_000} hours.`,
      details: { [field]: id.slice(0, 100) },
    });
  }

  async list(): Promise<readonly WaitingUpload[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const found = await Promise.all(
      names.map(async (name): Promise<WaitingUpload[]> => {
        const [, id = "", suffix] = /^([0-9a-z]{26})(\.json|\.part)$/.exec(name) ?? [];
        if (!isSessionId(id)) return [];
        const { size: bytes } = await stat(join(this.#folder, name)).catch(() => ({ size: 0 }));
        return [{ id, receivedAt: idTime(id), bytes, isPart: suffix === partSuffix }];
      }),
    );
    return found.flat().sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Also removes parts that a killed server left. Returns their number. */
  async removeExpired(now: number, { dryRun = false } = {}): Promise<number> {
    const expired = (await this.list()).filter(({ receivedAt }) => receivedAt <= now - uploadLifeMs);
    if (dryRun) return expired.length;
    for (const { id, isPart } of expired)
      await unlink(join(this.#folder, id + (isPart ? partSuffix : recordSuffix))).catch(() => undefined);
    return expired.length;
  }

  #record(id: string): string {
    return join(this.#folder, id + recordSuffix);
  }
}

function readRecord(bytes: Buffer, id: string): Upload {
  const record = parseJson(bytes, { what: "The record of the upload", maxBytes: maxRecordBytes });
  const { source, attachment, artifacts } = (record ?? {}) as unknown as Partial<Upload>;
  const fault =
    attachment === undefined
      ? sourceSchema.check(source, "source")
      : attachmentSchema.check(attachment, "attachment");
  if (Array.isArray(artifacts) && fault === undefined) return record as unknown as Upload;
  throw new InputInvalid(`The record of upload ${id} is damaged.`, { advice: "Send it again." });
}
