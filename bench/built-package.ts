import { readdirSync, statSync } from "node:fs";

const root = new URL("../", import.meta.url);

/** A stale build would give wrong numbers. */
export function requireFreshBuild(): void {
  const built = newest(new URL("dist/", root));
  if (built !== undefined && built >= (newest(new URL("src/", root)) ?? 0)) return;
  const problem = built === undefined ? "dist/ is missing" : "dist/ is older than src/";
  throw new Error(`${problem}: run npm run build`);
}

function newest(folder: URL): number | undefined {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    return Math.max(...files.map((file) => statSync(`${file.parentPath}/${file.name}`).mtimeMs));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
