import type { Attached } from "../personas/function.ts";
import type { Drive } from "./drive.ts";

/** The files that belong to the brief. */
export function attachedFiles({
  artifacts,
  journal,
}: Pick<Drive, "artifacts" | "journal">): Promise<readonly Attached[]> {
  const { attachments = [] } = journal.state.created;
  return Promise.all(
    attachments.map(async (each) => ({ ...each, content: await artifacts.get(each.sha256) })),
  );
}
