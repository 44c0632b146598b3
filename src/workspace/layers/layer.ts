import { access, stat } from "node:fs/promises";
import { join } from "node:path";

/** A folder of prepared dependencies, and where a command sees it. */
export interface LayerPart {
  /** Never written: a command gets its own view of it. */
  readonly source: string;
  /** Relative to the workspace, such as `node_modules`, or `~/...`, in the command's home. */
  readonly place: string;
}

/** The programs of a part: those of npm packages, or of a Python environment. */
export async function programsOf({ source }: LayerPart): Promise<string | undefined> {
  if (await isFolder(join(source, ".bin"))) return ".bin";
  const isEnvironment = await access(join(source, "pyvenv.cfg")).then(
    () => true,
    () => false,
  );
  return isEnvironment ? "bin" : undefined;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
