import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { sha256 } from "../../src/domain/canonical.ts";
import { ArtifactCorrupt, InputInvalid } from "../../src/domain/errors.ts";
import type { Blobs } from "../../src/store/blobs.ts";

/** Blobs, and what the suite does to them from outside. */
export interface BlobsUnderTest {
  readonly blobs: Blobs;
  /** Changes the stored bytes behind the port. */
  readonly damage: (hash: string) => Promise<void>;
  close(): Promise<void>;
}

const never = async () => false;

/** The promises of every Blobs, whatever it is made of. */
export function blobsContract(name: string, open: () => Promise<BlobsUnderTest>): void {
  const opened = async () => {
    const under = await open();
    onTestFinished(() => under.close());
    return under;
  };
  const all = async (hashes: AsyncIterable<string>) => {
    const found: string[] = [];
    for await (const hash of hashes) found.push(hash);
    return found;
  };
  const later = () => Date.now() + 60_000;

  describe(`the contract of blobs, kept by ${name}`, () => {
    test("returns the bytes that were put, by their SHA-256", async () => {
      const { blobs } = await opened();
      const bytes = randomBytes(100_000);
      for (const content of [bytes, "text, äöü", ""]) {
        const hash = await blobs.put(content);
        expect(hash).toBe(sha256(Buffer.from(content)));
        expect(await blobs.get(hash)).toEqual(Buffer.from(content));
        expect(await blobs.has(hash)).toBe(true);
      }
    });

    test("stores equal bytes once, also when they are put at the same time", async () => {
      const { blobs } = await opened();
      const hashes = await Promise.all(Array.from({ length: 8 }, () => blobs.put("same")));
      expect(new Set(hashes).size).toBe(1);
      expect(await all(blobs.olderThan(later()))).toEqual([hashes[0]]);
    });

    test("has nothing under a hash that was never put, and refuses a name that is no hash", async () => {
      const { blobs } = await opened();
      expect(await blobs.has("0".repeat(64))).toBe(false);
      await expect(blobs.get("0".repeat(64))).rejects.toThrow(ArtifactCorrupt);
      await expect(blobs.get("../maestro.db")).rejects.toThrow(InputInvalid);
    });

    test("returns no damaged bytes, and putting them again repairs them", async () => {
      const { blobs, damage } = await opened();
      const hash = await blobs.put("whole");
      await damage(hash);
      await expect(blobs.get(hash)).rejects.toThrow(ArtifactCorrupt);
      expect(await blobs.has(hash)).toBe(false);
      expect(await blobs.put("whole")).toBe(hash);
      expect((await blobs.get(hash)).toString()).toBe("whole");
    });

    test("stores a batch at once, and its references keep every blob of it", async () => {
      const { blobs } = await opened();
      await blobs.put("known");
      const contents = ["known", "", "one", "two", "one", "x".repeat(100_000)].map((text) =>
        Buffer.from(text),
      );
      await using batch = await blobs.batch();
      const hashes: string[] = [];
      for (const content of contents) hashes.push(await batch.add(content));
      expect(hashes).toEqual(contents.map((content) => sha256(content)));
      const references = await batch.commit();
      const isNeeded = async (hash: string) => references.includes(hash);
      for (const hash of await all(blobs.olderThan(later()))) await blobs.remove(hash, later(), isNeeded);
      for (const [place, hash] of hashes.entries()) expect(await blobs.get(hash)).toEqual(contents[place]);
      for (const hash of references) expect(await blobs.has(hash)).toBe(true);
    });

    test("a second batch stores only new blobs, and refers to the first one for the others", async () => {
      const { blobs } = await opened();
      const store = async (...texts: readonly string[]) => {
        await using batch = await blobs.batch();
        for (const text of texts) await batch.add(Buffer.from(text));
        return await batch.commit();
      };
      const first = await store("a", "b");
      expect(await store("a", "b")).toEqual(first);
      const second = await store("b", "c");
      expect(second).toEqual(expect.arrayContaining([...first]));
      for (const hash of first) await blobs.remove(hash, later(), never);
      expect(await blobs.has(sha256(Buffer.from("a")))).toBe(false);
      expect(await blobs.has(sha256(Buffer.from("c")))).toBe(true);
      await store("a", "b");
      expect((await blobs.get(sha256(Buffer.from("a")))).toString()).toBe("a");
    });

    test("a batch that is not committed leaves nothing", async () => {
      const { blobs } = await opened();
      {
        await using batch = await blobs.batch();
        await batch.add(Buffer.from("gone"));
      }
      expect(await all(blobs.olderThan(later()))).toEqual([]);
      expect(await blobs.has(sha256(Buffer.from("gone")))).toBe(false);
    });

    test("removes a blob that is old and not needed", async () => {
      const { blobs } = await opened();
      const [gone, kept] = [await blobs.put("gone"), await blobs.put("kept")];
      expect(await blobs.remove(gone, later(), never)).toBe(true);
      expect(await blobs.has(gone)).toBe(false);
      expect(await all(blobs.olderThan(later()))).toEqual([kept]);
      expect(await blobs.remove(gone, later(), never)).toBe(false);
    });

    test("keeps a blob that is needed, or that was put since", async () => {
      const { blobs } = await opened();
      const hash = await blobs.put("kept");
      expect(await blobs.remove(hash, later(), async () => true)).toBe(false);
      expect(await blobs.remove(hash, Date.now() - 60_000, never)).toBe(false);
      expect(await all(blobs.olderThan(Date.now() - 60_000))).toEqual([]);
      expect((await blobs.get(hash)).toString()).toBe("kept");
    });

    test("a blob that is put while it is being removed is there afterwards", async () => {
      const { blobs } = await opened();
      const hash = await blobs.put("again");
      await blobs.remove(hash, later(), async () => {
        await blobs.put("again");
        return false;
      });
      expect((await blobs.get(hash)).toString()).toBe("again");
    });
  });
}
