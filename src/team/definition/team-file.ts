import { constants, open } from "node:fs/promises";
import { dirname, extname } from "node:path";
import { sha256 } from "../../domain/canonical.ts";
import { TeamInvalid } from "../../domain/errors.ts";
import { persona, phase, type Team, teamOf } from "../define.ts";
import { GivenFiles } from "./given-files.ts";
import { teamInvalid } from "./invalid.ts";
import { definitionLimits } from "./limits.ts";
import { Problems } from "./place.ts";
import { readTeam } from "./read-team.ts";
import type { PlacedProblem, SourceText } from "./source-text.ts";
import type { TeamDefinition } from "./team-definition.ts";
import type { Phase } from "./written.ts";

/**
 * A team of plain data, and the hash of everything it was read from. `file` is the user's name for it; `path` is
 * its location.
 */
export async function readTeamFile(
  path: string,
  file: string,
): Promise<{ readonly team: Team; readonly sha256: string }> {
  const bytes = await readBytes(path, file);
  const text = decode(bytes, file);
  const source = await parse(text, path);
  if (source.kind === "broken") throw brokenFile(source, file);
  if (source.value === null || source.value === undefined) {
    throw new TeamInvalid(`The team file ${file} is empty.`, {
      advice: "Give it a name, phases and personas.",
    });
  }
  const files = new GivenFiles(dirname(path));
  const problems = new Problems(files);
  const definition = readTeam(source.value, "file", problems);
  if (problems.count > 0 || definition === undefined) throw invalidFile(source, problems, file);
  const team = teamOf(definition, writtenPhases(definition, source.value), { contents: files.contents });
  return { team, sha256: hashOf(bytes, files) };
}

/** Its skills and texts are instructions like the file's own, so a person trusts all of them together. */
function hashOf(bytes: Uint8Array, { contents }: GivenFiles): string {
  const own = sha256(bytes);
  return contents.size === 0 ? own : sha256([own, ...[...contents.keys()].sort()].join(" "));
}

/** Loaded on demand, because a team in YAML does not need the JSON reader. */
async function parse(text: string, path: string): Promise<SourceText> {
  return extname(path) === ".json"
    ? (await import("./json-text.ts")).readJson(text)
    : (await import("./yaml-text.ts")).readYaml(text);
}

async function readBytes(path: string, file: string): Promise<Uint8Array> {
  const limit = definitionLimits.fileBytes;
  // Opening a pipe must not wait for its writer. Pipes are refused below.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      throw new TeamInvalid(`The team file ${file} cannot be read: ${cause.code ?? cause.message}.`, {
        cause,
      });
    },
  );
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw new TeamInvalid(`The team file ${file} is not a regular file.`);
    if (status.size > limit) {
      throw new TeamInvalid(`The team file ${file} has ${status.size} bytes; at most ${limit} are read.`);
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Removes a byte order mark, which some editors write. */
function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TeamInvalid(`The team file ${file} is not UTF-8.`, { cause, advice: "Save it as UTF-8." });
  }
}

function brokenFile(source: SourceText & { kind: "broken" }, file: string): TeamInvalid {
  const { language, problems, advice } = source;
  return new TeamInvalid(
    `The team file ${file} cannot be read as ${language}: ${problems.map(inPlace).join(" ")}`,
    {
      details: { file, problems: problems.map(inPlace), places: problems },
      ...(advice !== undefined && { advice }),
    },
  );
}

/** Sorted by position in the file. */
function invalidFile(
  source: SourceText & { kind: "read" },
  { found, count }: Problems,
  file: string,
): TeamInvalid {
  const places = found
    .map(({ path, on, sentence }) => ({ ...source.locate(path, on), sentence }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
  return teamInvalid(`The team file ${file}`, places.map(inPlace), { file, places, count });
}

function inPlace({ line, column, sentence }: PlacedProblem): string {
  return line === undefined ? sentence : `line ${line}, column ${column}: ${sentence}`;
}

/** The phases with their personas inside, as in code. The file has already been checked. */
function writtenPhases({ phases }: TeamDefinition, value: unknown): readonly Phase[] {
  const team = value as {
    readonly phases: readonly Phase[];
    readonly personas: Readonly<Record<string, Parameters<typeof persona>[1]>>;
  };
  return phases.map(({ name, personas }, index) => {
    const found = personas.map((member) => {
      const options = team.personas[member.name];
      if (options === undefined) throw new Error(`persona ${member.name} was checked and is missing`);
      return persona(member.name, options);
    });
    return phase(name, { ...team.phases[index], personas: found });
  });
}
