import { open } from "node:fs/promises";
import type { CheckpointInfo } from "../store/list-checkpoints.ts";

/** Exports are gzip files, checkpoints are plain JSON. */
export async function isPacked(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

/** The checkpoints of an export that an import would accept. Loaded on demand, because it also reads teams. */
export async function verifyExport(file: string): Promise<CheckpointInfo[]> {
  return (await import("./read-export.ts")).verifyExport(file);
}
