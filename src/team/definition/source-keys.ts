import { isAbsolute, normalize } from "node:path";
import { addressProblem, isGitAddress, secretIn } from "../../domain/git-address.ts";
import { optional, section, withDefault } from "./fields.ts";
import { glob, type Kind, plain, set } from "./kinds.ts";

/** Whether the spelling of a team's `source.git` leads out of the folder of its team file. */
export const leadsOut = (git: string): boolean =>
  isGitAddress(git) || isAbsolute(git) || normalize(git).split("/")[0] === "..";

const maxLength = 1_000;
const allowed = "a folder, or the address of a repository without a password";

/** A refused address is not shown, because it is likely to contain a password. */
const repository: Kind<string> = {
  allowed,
  schema: { type: "string", pattern: "^[^-\\u0000-\\u001f][^\\u0000-\\u001f]*$", maxLength },
  read: (value, place) => {
    const text = typeof value === "string" && value.length <= maxLength ? value : "";
    const isWrong = text.trim() === "" || /^-|\p{Cc}/u.test(text);
    const problem = isWrong ? "is not a folder or an address" : addressFault(text);
    if (problem === undefined) return text;
    place.problem(`${problem}; it must be ${allowed}.`);
    return undefined;
  },
};

function addressFault(text: string): string | undefined {
  if (!isGitAddress(text)) return undefined;
  return secretIn(text) === undefined ? addressProblem(text) : "has a user or a password in its address";
}

const ref: Kind<string> = plain(
  "the name of a branch or tag, or a commit",
  { type: "string", pattern: "^[^-\\u0000-\\u0020][^\\u0000-\\u0020]*$", maxLength },
  (value) =>
    typeof value === "string" && value.length <= maxLength && /^[^-\0-\x20][^\0-\x20]*$/.test(value)
      ? value
      : undefined,
);

const globs = set(glob, { allowed: "a list of globs" });

export const sourceSection = section({
  name: "source",
  sentence: "The repository that a session works on.",
  allowed: "an object with git, ref, include, exclude and checksOnly",
  hints: { repo: "Write git instead.", branch: "Write ref instead.", path: "Write git instead." },
  keys: {
    git: withDefault(repository, ".", {
      sentence:
        "Its folder, relative to the team file, or its address. A folder outside that of the team file, and an address, need [trust](trust.md).",
      example: ".",
      otherwise: "the folder of the team file",
    }),
    ref: optional(ref, {
      sentence: "A branch, tag or commit.",
      example: "main",
      otherwise:
        "the files on the disk, with changes that are not committed; of an address, its default branch",
    }),
    include: withDefault(globs, [], {
      sentence: "Only these files.",
      example: ["src/**"],
      otherwise: "all tracked files",
    }),
    exclude: withDefault(globs, [], {
      sentence: "Not these files.",
      example: ["**/*.snap"],
      otherwise: "none",
    }),
    checksOnly: withDefault(globs, [], {
      sentence:
        "Files that only checks and setup get, because they hold secrets. A path without wildcards may name a file that git does not track.",
      example: [".env.test"],
      otherwise: "none",
    }),
  },
});
