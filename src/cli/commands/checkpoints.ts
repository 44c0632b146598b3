import { CheckpointCorrupt, SessionNotFound } from "../../domain/errors.ts";
import { type CheckpointInfo, verifyCheckpointFile } from "../../index.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { ago, print, printJson, table } from "../output.ts";

export async function checkpoints(idOrKey: string, options: GlobalOptions): Promise<void> {
  list(await withMaestro(options, (maestro) => maestro.checkpoints(idOrKey)), options);
}

/** Of a session: every checkpoint. Of a file: that one. Damage is exit 5. */
export async function verify(sessionOrFile: string, options: GlobalOptions): Promise<void> {
  const found = /[./\\]/.test(sessionOrFile)
    ? [await verifyCheckpointFile(sessionOrFile)]
    : await withMaestro(options, (maestro) => maestro.checkpoints(sessionOrFile));
  if (found.length === 0) throw new SessionNotFound(`Session ${sessionOrFile} has no checkpoints.`);
  list(found, options);
  const bad = found.filter(({ valid }) => !valid);
  if (bad.length === 0) return;
  throw new CheckpointCorrupt(
    `${bad.length} of ${found.length} checkpoints are not valid: ${bad.map(({ file }) => file).join(", ")}.`,
    {
      advice: "Resume the session: they are written again from the journal.",
    },
  );
}

function list(found: readonly CheckpointInfo[], { json }: GlobalOptions): void {
  if (json) return printJson(found);
  const rows = found.map(({ phase, revision, createdAt, sha256, valid, problem }) => [
    phase,
    String(revision),
    createdAt === null ? "-" : ago(Date.parse(createdAt)),
    sha256?.slice(0, 12) ?? "-",
    valid ? "valid" : (problem ?? "not valid"),
  ]);
  print(table(["phase", "revision", "made", "sha256", "state"], rows));
}
