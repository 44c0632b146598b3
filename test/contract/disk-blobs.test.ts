import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Artifacts } from "../../src/store/artifacts.ts";
import { blobsContract } from "./blobs-contract.ts";

blobsContract("files in the state directory", async () => {
  const directory = await mkdtemp(join(tmpdir(), "maestro-blobs-"));
  return {
    blobs: new Artifacts(directory),
    damage: (hash) => writeFile(join(directory, "artifacts", hash.slice(0, 2), hash), "other bytes"),
    close: () => rm(directory, { recursive: true }),
  };
});
