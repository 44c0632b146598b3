/** Files of a version: some change with each version, some appear and disappear, one collides with the user's own. */
export function versionFiles(version: number): Record<string, string> {
  const files: Record<string, string> = { "always.txt": "always", "mine.txt": `version ${version}\n` };
  for (let index = 0; index < 12; index += 1) files[`src/${index}.txt`] = body(version, index);
  if (version % 2 === 0)
    for (let index = 0; index < 6; index += 1) files[`even/deep/${index}.txt`] = body(version, index);
  return files;
}

const body = (version: number, index: number): string =>
  `version ${version} of ${index}\n`.repeat(2000 + index);

/** Whether a file has the content of one version only. */
export const isWhole = (content: string): boolean => {
  const lines = content.split("\n").slice(0, -1);
  return (
    content === "always" ||
    (content.endsWith("\n") && new Set(lines).size === 1 && (lines.length === 1 || lines.length >= 2000))
  );
};
