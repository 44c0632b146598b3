/** How a promise can be broken: a record is gone, a recorded effect happens again, damage or an attack is accepted. */
export type Fault = "lost" | "repeated" | "let in";

/** One experiment. The same seed makes the same choices; the machine's own timing differs. */
export interface Trial {
  readonly title: string;
  /** Resolves to the number of things tried, and rejects when a promise is broken. */
  readonly run: (seed: number) => Promise<number>;
}

/** Many trials of one kind. `npm test` runs a few fixed seeds; `npm run campaign` runs new ones. */
export interface Campaign {
  readonly name: string;
  readonly about: string;
  /** The things that its trials count. */
  readonly tries: string;
  readonly faults: readonly Fault[];
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

/** Runs trials until the time is over. A failed trial is reported with the command that repeats it; the others continue. */
export async function conduct(campaign: Campaign, options: CampaignOptions): Promise<Outcome> {
  const { seed, minutes, together, report } = options;
  const trials = await campaign.load();
  const begun = performance.now();
  const deadline = begun + minutes * 60_000;
  const found: Record<Fault | "failed", number> = { lost: 0, repeated: 0, "let in": 0, failed: 0 };
  let [started, ended, tried] = [0, 0, 0];
  const line = (): string => {
    const faults = campaign.faults.map((fault) => `${fault} ${found[fault]}`);
    const rest = Object.entries(found).filter(([fault]) => !campaign.faults.includes(fault as Fault));
    const failed = rest.reduce((sum, [, count]) => sum + count, 0);
    const elapsed = ((performance.now() - begun) / 60_000).toFixed(1);
    return `campaign ${campaign.name}: tried ${tried.toLocaleString("en")} ${campaign.tries} in ${ended} trials, ${faults.join(", ")}, failed otherwise ${failed} (seed ${seed}, ${elapsed} minutes)`;
  };
  const worker = async (): Promise<void> => {
    while (started < options.trials && (performance.now() < deadline || started === 0)) {
      const trialSeed = seed + started;
      started += 1;
      const trial = trials[trialSeed % trials.length] as Trial;
      try {
        const count = await trial.run(trialSeed);
        tried += count;
      } catch (error) {
        found[faultOf(error)] += 1;
        report(`${trial.title}: ${explain(error)}`);
        report(`repeat with: npm run campaign -- ${campaign.name} --seed ${trialSeed} --trials 1`);
      }
      ended += 1;
      if (ended % 20 === 0) report(line());
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
  return { isClean: Object.values(found).every((count) => count === 0), line: line() };
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
