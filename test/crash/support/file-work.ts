import { canonicalJson } from "../../../src/domain/canonical.ts";
import type { PersonaContext } from "../../../src/index.ts";
import { type Step, type World, worker } from "./worker.ts";

type Files = Pick<PersonaContext, "workspace">;

/** A step whose result is a file; the change is part of its record. */
export async function writes(step: Step, { workspace }: Files, path: string, content: string): Promise<void> {
  await step(path, async () => {
    await workspace.write(path, content);
    return `${content.length} characters`;
  });
}

/** Every file the persona sees, with its content. */
export async function everything({ workspace }: Files): Promise<string> {
  const files = workspace.list().map(async (path) => `${path}: ${await workspace.readText(path)}`);
  return (await Promise.all(files)).join("");
}

/** A persona that writes one file with everything it sees. */
export const author = (name: string, world: World, path: string, consumes?: readonly string[]) =>
  worker(
    name,
    world,
    async (context, step) => {
      // A restored checkpoint has its keys in another order.
      const results = canonicalJson(context.context.results as never);
      const read = async () => `${results} ${await everything(context)}`;
      const seen = await step(`read ${consumes?.join(" and ") ?? "everything"}`, read);
      await writes(step, context, path, `${name}, for ${seen.length} characters\n`);
    },
    consumes === undefined ? {} : { consumes },
  );
