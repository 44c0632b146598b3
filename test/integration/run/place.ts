import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { adviceText } from "../../../src/domain/advice.ts";
import {
  type Maestro,
  type OpenOptions,
  open,
  type PersonaContext,
  type SessionEvent,
} from "../../../src/index.ts";

/** A state directory of its own, and a list of who really worked. */
export class TeamPlace {
  readonly stateDir = mkdtempSync(join(tmpdir(), "maestro-team-"));
  readonly ran: string[] = [];
  readonly events: SessionEvent[] = [];
  readonly notices: string[] = [];
  readonly #open: Maestro[] = [];

  constructor() {
    onTestFinished(async () => {
      await Promise.all(this.#open.map((maestro) => maestro.close()));
      rmSync(this.stateDir, { recursive: true, force: true });
    });
  }

  /** Retries wait no longer than a moment: what is tested here is not how long. */
  async open(options: OpenOptions = {}): Promise<Maestro> {
    const quick = { max: 3, baseDelayMs: 1, maxDelayMs: 1 };
    const maestro = await open({
      stateDir: this.stateDir,
      attempts: { ...quick },
      rounds: { ...quick, max: 2 },
      onEvent: (event) => this.events.push(event),
      onNotice: (notice, actions = []) => this.notices.push(`${notice} ${adviceText(actions)}`.trim()),
      ...options,
    });
    this.#open.push(maestro);
    return maestro;
  }

  /** Work that notes that it ran. */
  work(
    name: string,
    act: (context: PersonaContext) => unknown = () => ({}),
  ): (context: PersonaContext) => Promise<{ summary: string; outputs: Record<string, never> }> {
    return async (context) => {
      this.ran.push(name);
      const outputs = (await act(context)) as Record<string, never> | undefined;
      return { summary: `${name} is done`, outputs: outputs ?? {} };
    };
  }

  /** The files of a session as its user gets them: text by path. */
  async filesOf(maestro: Maestro, id: string): Promise<Record<string, string>> {
    const out = mkdtempSync(join(tmpdir(), "maestro-out-"));
    try {
      await maestro.writeFiles(id, out);
      const paths = readdirSync(out, { recursive: true, encoding: "utf8" }).sort();
      const files = paths.filter((path) => !path.startsWith(".") && statSync(join(out, path)).isFile());
      return Object.fromEntries(files.map((path) => [path, readFileSync(join(out, path), "utf8")]));
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  }
}
