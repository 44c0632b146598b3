import type { CheckResult, Deliverable } from "../domain/contract.ts";
import { createFailure } from "../domain/failure.ts";
import type { Tree } from "../domain/tree.ts";
import { isInstalled } from "../domain/tree-path.ts";
import { oneLine } from "./check-message.ts";
import { namedMatchers } from "./named-files.ts";

/** Each glob must match a file that is not empty: a placeholder is no deliverable. */
export function judgeDeliverable({ name, files, must, weight }: Deliverable, tree: Tree): CheckResult {
  const base = { kind: "deliverable", name, must, weight } as const;
  if (files.length === 0) return { ...base, status: "not-run", message: "It names no files.", failures: [] };
  const problems = [...namedMatchers(files)].flatMap(([glob, isMatch]) => {
    const found = [...tree].filter(([path]) => isMatch(path) && !isInstalled(path));
    if (found.some(([, { bytes }]) => bytes > 0)) return [];
    const [first] = found;
    return [first === undefined ? `no file matches ${glob}` : `${first[0]} is empty`];
  });
  if (problems.length === 0)
    return { ...base, status: "passed", message: "All files are there.", failures: [] };
  const failures = problems.map((message) =>
    createFailure({
      category: "CONTRACT",
      message: `The deliverable ${name} is missing: ${message}`,
      source: "deliverable",
      suggestedFix: "Write the file, with content, at a path that the glob matches.",
    }),
  );
  return { ...base, status: "failed", message: oneLine(problems), failures };
}
