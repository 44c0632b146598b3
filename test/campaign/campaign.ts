/**
 * How a promise can be broken: a record is gone, a recorded effect happens again, damage or an attack is accepted, or is
 * refused with an error that says nothing to a person.
 */
export type Fault = "lost" | "repeated" | "let in" | "raw error";

/** One experiment. The same seed makes the same choices; the machine's own timing differs. */
export interface Trial {
  readonly title: string;
  /** Resolves to the number of things tried, and rejects when a promise is broken. */
  readonly run: (seed: number) => Promise<number>;
  /** The noun for its trials. Missing: that of its campaign. */
  readonly tries?: string;
}

/** Many trials of one kind. `npm test` runs a few fixed seeds; `npm run campaign` runs new ones. */
export interface Campaign {
  readonly name: string;
  readonly about: string;
  /** The things that its trials count. */
  readonly tries: string;
  /** None where the machine lacks what they need. */
  readonly load: () => Promise<readonly Trial[]>;
}

/** Names the promise of a failed check, so that a campaign can count it. */
export class BrokenPromise extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, cause: unknown) {
    super(`${fault}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.fault = fault;
  }
}

/** Runs checks whose failure means this fault. */
export function orElse<T>(fault: Fault, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw new BrokenPromise(fault, error);
  }
}

export interface CampaignOptions {
  readonly seed: number;
  readonly minutes: number;
  /** Ends the campaign earlier. */
  readonly trials: number;
  readonly together: number;
  readonly report: (line: string) => void;
}

export interface Outcome {
  readonly isClean: boolean;
  /** The last line of a campaign. */
  readonly line: string;
}

const faults: readonly (Fault | "failed")[] = ["lost", "repeated", "let in", "raw error", "failed"];

/**
 * Runs trials until the time is over; the kinds of things that they try share it. A failed trial is reported with the
 * command that repeats it, and the others continue.
 */
export async function conduct(
  name: string,
  parts: readonly Campaign[],
  options: CampaignOptions,
): Promise<Outcome> {
  const { seed, minutes, together, report } = options;
  const schedule = await Schedule.of(parts, seed, report);
  const begun = performance.now();
  const deadline = begun + minutes * 60_000;
  const found = new Map(faults.map((fault) => [fault, 0]));
  let [started, ended] = [0, 0];
  const line = (): string => {
    const tried = schedule.kinds.map(({ tries, count }) => `${count.toLocaleString("en")} ${tries}`);
    const broken = [...found].map(
      ([fault, count]) => `${fault === "failed" ? "failed otherwise" : fault} ${count}`,
    );
    const elapsed = ((performance.now() - begun) / 60_000).toFixed(1);
    return `campaign ${name}: tried ${tried.join(", ")} in ${ended} trials, ${broken.join(", ")} (seed ${seed}, ${elapsed} minutes)`;
  };
  const worker = async (): Promise<void> => {
    while (started < options.trials && (performance.now() < deadline || started === 0)) {
      started += 1;
      const { kind, trial, campaign, trialSeed } = schedule.next();
      const from = performance.now();
      kind.running += 1;
      try {
        const count = await trial.run(trialSeed);
        kind.count += count;
      } catch (error) {
        const fault = faultOf(error);
        found.set(fault, (found.get(fault) ?? 0) + 1);
        report(`${trial.title}: ${explain(error)}`);
        report(`repeat with: npm run campaign -- ${campaign} --seed ${trialSeed} --trials 1`);
      }
      kind.running -= 1;
      kind.trials += 1;
      kind.spentMs += performance.now() - from;
      ended += 1;
      if (ended % 20 === 0) report(line());
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
  // A kind that was not tried at all proves nothing.
  const isWhole = started === options.trials || schedule.kinds.every(({ count }) => count > 0);
  return { isClean: isWhole && [...found.values()].every((count) => count === 0), line: line() };
}

/** Things of one kind, such as kills, whichever campaigns try them. */
interface Kind {
  readonly tries: string;
  /** The campaigns that have such trials, in turn. */
  readonly sources: Source[];
  /** How many things were tried, in so many trials. */
  count: number;
  trials: number;
  spentMs: number;
  running: number;
}

interface Source {
  readonly campaign: string;
  readonly trials: readonly Trial[];
  readonly isMeant: (trial: Trial) => boolean;
  /** The seed that comes next. It also chooses the trial, so that a seed alone repeats it. */
  seed: number;
}

class Schedule {
  readonly kinds: readonly Kind[];

  private constructor(kinds: readonly Kind[]) {
    this.kinds = kinds;
  }

  static async of(
    parts: readonly Campaign[],
    seed: number,
    report: (line: string) => void,
  ): Promise<Schedule> {
    const kinds = new Map<string, Kind>();
    for (const { name: campaign, tries: usual, load } of parts) {
      const trials = await load();
      if (trials.length === 0) report(`campaign ${campaign} cannot run on this machine`);
      for (const tries of new Set(trials.map((trial) => trial.tries ?? usual))) {
        const kind = kinds.get(tries) ?? { tries, sources: [], count: 0, trials: 0, spentMs: 0, running: 0 };
        kinds.set(tries, kind);
        const isMeant = (trial: Trial) => (trial.tries ?? usual) === tries;
        kind.sources.push({ campaign, trials, isMeant, seed });
      }
    }
    if (kinds.size === 0) throw new Error("no campaign can run on this machine");
    return new Schedule([...kinds.values()]);
  }

  /**
   * Of the kind that has had the least time for each of its campaigns; a trial under way counts as an average one. The
   * first trial is the one that the seed names.
   */
  next(): { kind: Kind; trial: Trial; campaign: string; trialSeed: number } {
    const share = ({ sources, spentMs, trials, running }: Kind): number =>
      (spentMs + running * (trials === 0 ? 60_000 : spentMs / trials)) / sources.length;
    const [kind] = this.kinds.toSorted(
      (one, other) => share(one) - share(other) || nextSeed(one.sources[0]) - nextSeed(other.sources[0]),
    ) as [Kind];
    const source = kind.sources.shift() as Source;
    kind.sources.push(source);
    const trialSeed = nextSeed(source);
    source.seed = trialSeed + 1;
    return { kind, trial: trialOf(source, trialSeed), campaign: source.campaign, trialSeed };
  }
}

const trialOf = ({ trials }: Source, seed: number): Trial => trials[seed % trials.length] as Trial;

function nextSeed(source: Source | undefined): number {
  if (source === undefined) return Number.POSITIVE_INFINITY;
  let { seed } = source;
  while (!source.isMeant(trialOf(source, seed))) seed += 1;
  return seed;
}

function faultOf(error: unknown): Fault | "failed" {
  if (error instanceof BrokenPromise) return error.fault;
  return error instanceof Error && error.cause !== undefined ? faultOf(error.cause) : "failed";
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\n  because of ${explain(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
