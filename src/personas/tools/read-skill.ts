import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { decodeText } from "../../workspace/text.ts";
import { type SkillDefinition, skillFile } from "../guidance.ts";
import type { ReadSkill } from "../model/ports.ts";

/** Reads the files that the definition names, and no others. */
export function skillReader(
  skills: readonly SkillDefinition[],
  readFile: (sha256: string) => Promise<Buffer>,
): ReadSkill {
  return async (name, path) => {
    const skill = skills.find((one) => one.name === name);
    if (skill === undefined) throw unknown(`There is no skill "${name}".`, name, skills.map(nameOf));
    const wanted = path ?? skillFile;
    const file = skill.files.find((one) => one.path === wanted);
    if (file === undefined)
      throw unknown(
        `The skill ${name} has no file "${wanted}".`,
        wanted,
        skill.files.map((one) => one.path),
      );
    const text = decodeText(await readFile(file.sha256));
    if (text === undefined)
      throw new InputInvalid(`${wanted} of the skill ${name} is not a text file.`, {
        advice: "Work without it: only texts can be read.",
      });
    return path === undefined ? `${text.trimEnd()}\n${listOf(skill)}` : text;
  };
}

function listOf({ files }: SkillDefinition): string {
  const others = files.filter(({ path }) => path !== skillFile);
  if (others.length === 0) return "";
  return `\nFiles of this skill:\n${others.map(({ path, bytes }) => `- ${path} (${bytes} bytes)`).join("\n")}\n`;
}

const nameOf = ({ name }: SkillDefinition): string => name;

const unknown = (what: string, word: string, known: readonly string[]): InputInvalid =>
  new InputInvalid(`${what}${didYouMean(word, known)}`, { advice: `Known: ${known.join(", ")}.` });
