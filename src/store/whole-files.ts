import { stat } from "node:fs/promises";

/** Far more than the checkpoints of the sessions that one process drives. */
const mostKnown = 20_000;

/**
 * Files that this process found whole. An unchanged file is not read again: a long session that is driven phase by phase
 * would otherwise read its whole past for each phase.
 */
export class WholeFiles {
  readonly #stamps = new Map<string, string>();

  /** The file is the one that was proved, with this seal. */
  async isKnown(path: string, sha256: string): Promise<boolean> {
    const known = this.#stamps.get(path);
    return known !== undefined && known === (await stampOf(path, sha256));
  }

  /** `before`: how the file was when it began to be read. */
  remember(path: string, before: string | undefined): void {
    if (before === undefined) return;
    if (this.#stamps.size >= mostKnown) this.#stamps.clear();
    this.#stamps.set(path, before);
  }
}

/** Changes whenever the content does; undefined when there is no such file. */
export async function stampOf(path: string, sha256: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && [sha256, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
}
