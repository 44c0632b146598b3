import { NotTrusted } from "../domain/errors.ts";
import { say, sayWrapped } from "./output.ts";
import { plain } from "./terminal/format.ts";

/** Loads a file that needs trust. On a terminal, asks the person first; otherwise refuses. */
export async function askingForTrust<T>(
  load: () => Promise<T>,
  options: { readonly json?: boolean } = {},
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!NotTrusted.is(error) || options.json === true || !isTerminal()) throw error;
    const { details, actions } = error;
    const { path, sha256 } = details as { readonly path: string; readonly sha256: string };
    if (!(await agrees(error))) throw new NotTrusted(`${path} is not trusted.`, { details, advice: actions });
    const { rememberTrust } = await import("../config/trust-store.ts");
    await rememberTrust({ path, sha256 }, process.env);
    // Another file may need trust too, or the file may have changed since it was read.
    return await askingForTrust(load, options);
  }
}

const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Any answer but yes means no. */
async function agrees({ message }: NotTrusted): Promise<boolean> {
  for (const line of message.split("\n")) sayWrapped(plain(line));
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await lines.question("Trust it? [y/N] ")).trim());
  } catch (error) {
    // Ctrl-C and Ctrl-D.
    if ((error as Error).name !== "AbortError") throw error;
    say("");
    return false;
  } finally {
    lines.close();
  }
}
