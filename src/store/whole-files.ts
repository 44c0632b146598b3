import { stat } from "node:fs/promises";

/** Far more than the checkpoints of the sessions that one process drives. */
const mostKnown = 20_000;

/**
 * Files that this process found intact. An unchanged file is not read again: a long session driven phase by phase
 * would otherwise reread its whole past for each phase.
 */
export class WholeFiles {
  readonly #stamps = new Map<string, string>();

  /** True if the file is unchanged since it was verified with this seal. */
  async isKnown(path: string, sha256: string): Promise<boolean> {
    const known = this.#stamps.get(path);
    return known !== undefined && known === (await stampOf(path, sha256));
  }

  /** `before`: the file's stamp before it was read. */
  remember(path: string, before: string | undefined): void {
    if (before === undefined) return;
    if (this.#stamps.size >= mostKnown) this.#stamps.clear();
    this.#stamps.set(path, before);
  }
}

/** A stamp that changes with the content; undefined if there is no such file. */
export async function stampOf(path: string, sha256: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && [sha256, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
}
