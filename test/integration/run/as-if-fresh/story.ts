import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fingerprint } from "../../../../src/domain/canonical.ts";
import { MaestroError } from "../../../../src/domain/errors.ts";
import type { Json } from "../../../../src/domain/json.ts";
import type { Maestro, PersonaContext, SessionResult, Team } from "../../../../src/index.ts";
import { counted } from "../counted-model.ts";
import type { TeamPlace } from "../place.ts";
import { type Design, Designer, type Member, teamOf } from "./random-team.ts";

/** A person may not ask for this now; that is no story. */
const refusals = ["INPUT_INVALID", "SESSION_CONFLICT", "TEAM_CHANGED"];

interface Pause {
  readonly name: string;
  readonly step: number;
}

/** One session and what people do to it, at random, until it is completed. */
export class Story {
  readonly told: string[] = [];
  /** Calls and steps that were made although they are on record. */
  readonly twice: string[] = [];
  readonly #place: TeamPlace;
  readonly #choose: Designer;
  readonly #model = counted();
  readonly #steps: string[] = [];
  readonly #edits = new Map<string, string>();
  #design: Design;
  /** Designs since the last fork: one that a fork did not have, it knows nothing of. */
  #earlier: Design[] = [];
  #maestro: Maestro | undefined;
  #stateDir: string;
  #id = "";
  #status = "";
  /** The cause and the step of the next pause, which happens once. */
  #pausing: Pause | undefined;

  constructor(place: TeamPlace, random: () => number) {
    this.#place = place;
    this.#choose = new Designer(random);
    this.#design = this.#choose.design();
    this.#stateDir = mkdtempSync(join(place.stateDir, "state-"));
  }

  async tell(length: number): Promise<{ readonly lived: unknown; readonly fresh: unknown }> {
    this.told.push(JSON.stringify(this.#design));
    const maestro = await this.#open();
    this.#id = (await maestro.create(this.#team(), { brief: "x" })).id;
    // Much is done already: there is something to send back.
    const [last] = this.#design.slice(-1).flatMap(({ members }) => members);
    this.#pausing = last && { name: last.name, step: 1 };
    await this.#resume({});
    for (let left = length; left > 0; left -= 1) await this.#act();
    this.#pausing = undefined;
    if (this.#status !== "completed") await this.#proceed({ isLast: true });
    this.#forget();
    const lived = await this.#whatCame(this.#id);
    const fresh = await this.#whatCame(await this.#runFresh());
    return { lived, fresh };
  }

  async #act(): Promise<void> {
    const isOver = this.#status === "completed";
    const acts = {
      proceed: () => (isOver ? this.#fork() : this.#proceed()),
      onePhase: () => (isOver ? this.#fork() : this.#onePhase()),
      change: () => (isOver ? this.#fork() : this.#change(this.#choose.change(this.#design))),
      changeBack: () =>
        isOver ? undefined : this.#change(this.#choose.pick([this.#design, ...this.#earlier])),
      edit: () => this.#edit(),
      fork: () => this.#fork(),
      lose: () => this.#lose(),
      carry: () => this.#carry(),
    };
    const name = this.#choose.pick(["change", ...(Object.keys(acts) as (keyof typeof acts)[])] as const);
    this.told.push(name);
    try {
      await acts[name]();
    } catch (error) {
      if (!MaestroError.is(error) || !refusals.includes(error.code)) throw error;
      this.told.push(`refused: ${error.message}`);
    }
  }

  async #proceed({ isLast = false } = {}): Promise<void> {
    this.#pausing = isLast ? undefined : await this.#somewhere();
    await this.#resume({});
  }

  /** In work that a persona has left to do. */
  async #somewhere(): Promise<Pause | undefined> {
    const maestro = await this.#open();
    const plan = await maestro.plan(this.#id, { team: this.#team(), acceptChanges: true });
    const works = plan.personas.filter(({ action }) => action === "runs" || action === "may-run");
    const name = works.length === 0 ? undefined : this.#choose.pick(works).persona;
    return name === undefined ? undefined : { name, step: this.#choose.pick([0, 1, 2, 3]) };
  }

  /** Nothing that rests on it begins. */
  async #onePhase(): Promise<void> {
    const done = await this.#done();
    const next = this.#design.find(({ name }) => !done.includes(name));
    this.#pausing = undefined;
    if (next !== undefined) this.#ended(await (await this.#open()).executePhase(this.#id, next.name));
  }

  async #done(): Promise<readonly string[]> {
    const { phases } = await (await this.#open()).show(this.#id);
    return phases
      .filter(({ status }) => status === "completed" || status === "reused")
      .map(({ name }) => name);
  }

  async #resume(options: object): Promise<void> {
    const maestro = await this.#open();
    const session = await maestro.resume(this.#id, { team: this.#team(), acceptChanges: true, ...options });
    this.#ended(await session.result());
  }

  #ended({ status, reason, error }: SessionResult): void {
    this.#status = status;
    this.told.push(`${status}, to pause ${JSON.stringify(this.#pausing)}`);
    if (status !== "completed" && status !== "paused")
      throw new Error(`${status} ${reason} ${error?.message}`);
  }

  async #change(design: Design): Promise<void> {
    this.#earlier.push(this.#design);
    this.#design = design;
    this.told.push(JSON.stringify(design));
    await this.#proceed();
    if (this.#status === "completed" || this.#choose.chance(0.5)) return;
    // Half of what it sent back may be sealed again, and half not.
    this.told.push("lost at once");
    await this.#choose.pick([() => this.#lose(), () => this.#carry()])();
  }

  /** A file of its own for each phase: what a fresh session is given in the same way. */
  async #edit(): Promise<void> {
    const done = await this.#done();
    const isLast = (name: string) =>
      !this.#design.some((other) => done.includes(other.name) && other.dependsOn.includes(name));
    const last = done.filter(isLast);
    if (last.length === 0) return;
    const name = this.#choose.pick(last);
    const text = `edited ${this.told.length}`;
    this.#pausing = await this.#somewhere();
    await this.#resume({ edits: { [name]: { files: { [`edit-${name}`]: text } } } });
    this.told.push(name);
    this.#edits.set(name, text);
  }

  async #fork(): Promise<void> {
    const maestro = await this.#open();
    const design = this.#choose.chance(0.5) ? this.#choose.change(this.#design) : this.#design;
    const { name: at, dependsOn } = this.#choose.pick(design);
    const edited = this.#choose.chance(0.4) ? this.#choose.pick([undefined, ...dependsOn]) : undefined;
    const text = `edited ${this.told.length}`;
    const edits = edited === undefined ? {} : { [edited]: { files: { [`edit-${edited}`]: text } } };
    this.told.push(`at ${at}, edited ${edited}, ${JSON.stringify(design)}`);
    const { id } = await maestro.fork(this.#id, { at, team: teamOf(design, this.#work), edits });
    this.#id = id;
    this.#design = design;
    this.#earlier = [];
    if (edited !== undefined) this.#edits.set(edited, text);
    await this.#proceed();
  }

  /** Unsealed work is done again. */
  async #lose(): Promise<void> {
    await this.#close();
    for (const name of readdirSync(this.#stateDir))
      if (name.startsWith("maestro.db")) rmSync(join(this.#stateDir, name));
    this.#forget();
    await this.#proceed();
  }

  async #carry(): Promise<void> {
    const file = join(this.#stateDir, "carried");
    await (await this.#open()).exportCheckpoints(this.#id, file);
    await this.#close();
    this.#stateDir = mkdtempSync(join(this.#place.stateDir, "state-"));
    await (await this.#open()).importCheckpoints(file, { trust: true });
    this.#forget();
    await this.#proceed();
  }

  /** Forgets the work until now: from here on it may be done again. */
  #forget(): void {
    const made = [...this.#model.asked.splice(0), ...this.#steps.splice(0)];
    this.twice.push(...made.filter((one, place) => made.indexOf(one) !== place));
  }

  async #runFresh(): Promise<string> {
    const maestro = await this.#open();
    const edited = this.#design.map(({ name }) => name).filter((name) => this.#edits.has(name));
    const session = await maestro.start(this.#team(), { brief: "x", pauseAfter: edited });
    let result = await session.result();
    while (result.status === "parked") {
      const waiting = (await maestro.show(session.id)).phases.filter(({ review }) => review === "awaiting");
      const edits = Object.fromEntries(
        waiting.map(({ name }) => [name, { files: { [`edit-${name}`]: this.#edits.get(name) ?? "" } }]),
      );
      result = await (await maestro.resume(session.id, { edits })).result();
    }
    return session.id;
  }

  async #whatCame(id: string): Promise<unknown> {
    const maestro = await this.#open();
    const { status, phases } = await maestro.show(id);
    const files = await this.#place.filesOf(maestro, id);
    return {
      status,
      files,
      phases: phases.map(({ name, status: done }) => `${name} ${done === "reused" ? "completed" : done}`),
    };
  }

  #team(): Team {
    return teamOf(this.#design, this.#work);
  }

  /** Says what it found, after two paid calls and two steps; one of each is the same whatever it found. */
  readonly #work = async (member: Member, context: PersonaContext): Promise<Record<string, string>> => {
    const { name, version, isSteady } = member;
    const { workspace } = context;
    await this.#pauseAt(name, 0);
    const files: Json[] = [];
    for (const path of [...workspace.list()].sort())
      if (path !== name) files.push([path, await workspace.readText(path)]);
    const found = fingerprint([files, context.context.results as unknown as Json]).slice(0, 6);
    await this.#model.ask(context, `${name} asks`);
    await this.#pauseAt(name, 1);
    await context.step("one", () => this.#steps.push(`${JSON.stringify(member)} ${found}`));
    await this.#pauseAt(name, 2);
    await this.#model.ask(context, `${name} asks about ${found}`);
    await this.#pauseAt(name, 3);
    const said = `${name} ${version}${isSteady ? "" : ` found ${found}`}`;
    await workspace.write(name, said);
    return { said };
  };

  async #pauseAt(name: string, step: number): Promise<void> {
    if (this.#pausing?.name !== name || this.#pausing.step !== step) return;
    this.#pausing = undefined;
    await this.#maestro?.pause(this.#id);
  }

  async #open(): Promise<Maestro> {
    this.#maestro ??= await this.#place.open({ stateDir: this.#stateDir, teams: [this.#team()] });
    return this.#maestro;
  }

  async #close(): Promise<void> {
    await this.#maestro?.close();
    this.#maestro = undefined;
  }
}
