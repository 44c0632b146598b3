import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerCall } from "../../../src/store/reports.ts";
import { type BilledUsage, PaidModels, type Reply } from "../../support/paid-models.ts";
import type { DriveModelsOptions } from "./drive-models.ts";
import { replyOf } from "./model-replies.ts";
import { Program } from "./program.ts";
import { openStore } from "./recorded.ts";

/** A team file of this folder, and the answers of its models. */
interface ModelTeam {
  readonly team: string;
  readonly reply: Reply;
  readonly usage?: BilledUsage;
}

const bookshelf: ModelTeam = {
  team: "model-team.yaml",
  reply: ({ persona, answersBefore }) => replyOf(persona, answersBefore),
};

/** One session of a team of models: its provider, its state directory, and the processes that drive it. */
export class ModelPlace {
  readonly models: PaidModels;
  readonly stateDir: string;
  readonly #folder: string;
  readonly #model: string;
  readonly #team: string;
  readonly #programs: Program[] = [];

  private constructor(model: string, team: string, models: PaidModels) {
    this.models = models;
    this.#model = model;
    this.#team = team;
    this.#folder = mkdtempSync(join(tmpdir(), "maestro-models-"));
    this.stateDir = join(this.#folder, "state");
  }

  static async open(model: string, { team, reply, ...usage }: ModelTeam = bookshelf): Promise<ModelPlace> {
    return new ModelPlace(model, team, await PaidModels.start(reply, { paceMs: 2, ...usage }));
  }

  drive(): Program {
    const { env } = this.models.server;
    const options: DriveModelsOptions = {
      stateDir: this.stateDir,
      model: this.#model,
      team: this.#team,
      env,
    };
    const program = new Program("drive-models.ts", options);
    this.#programs.push(program);
    return program;
  }

  /** Every row of the session's ledger. */
  async ledger(): Promise<readonly LedgerCall[]> {
    const store = openStore(this.stateDir);
    try {
      const session = await store.findSession("shelf");
      return session === undefined ? [] : await store.reports.calls(session.id);
    } finally {
      await store.close();
    }
  }

  async remove(): Promise<void> {
    for (const program of this.#programs) await program.end();
    await this.models.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
