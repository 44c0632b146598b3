import { createHash } from "node:crypto";
import type {
  AttemptView,
  EntryFact,
  Failure,
  PersonaView,
  PhaseView,
  RunStatus,
  SessionRow,
  SessionView,
  Usage,
} from "../../../dashboard/src/api/types.ts";

// Values for tests of pure functions. Times are minutes before the start of the test.
export const startedAt = Date.now();

export const minutesAgo = (minutes: number): string => new Date(startedAt - minutes * 60_000).toISOString();
const secondsAhead = (seconds: number): string => new Date(startedAt + seconds * 1000).toISOString();

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A generator of the same numbers for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function usage(costUsd: number, extra: Partial<Usage> = {}): Usage {
  const inputTokens = Math.round(costUsd * 86_000);
  return {
    inputTokens,
    cachedInputTokens: Math.round(inputTokens * 0.7),
    cacheWriteTokens: 0,
    outputTokens: Math.round(costUsd * 13_800),
    reasoningTokens: 0,
    costUsd,
    calls: Math.ceil(costUsd * 20),
    estimatedTokens: 0,
    estimatedUsd: 0,
    savedTokens: 0,
    savedUsd: 0,
    reservedUsd: 0,
    cacheDiscountUsd: 0,
    unpricedCalls: 0,
    unreportedCalls: 0,
    simulatedCalls: 0,
    simulatedUsd: 0,
    simulatedUnreportedCalls: 0,
    simulatedEstimatedTokens: 0,
    simulatedEstimatedUsd: 0,
    ...extra,
  };
}

export function failure(message: string, extra: Partial<Failure> = {}): Failure {
  return {
    category: "CONTRACT",
    severity: "high",
    message,
    source: "check",
    recoverable: true,
    outage: false,
    suggestedFix: "Deliver what the contract asks for, in the form it asks for.",
    ...extra,
  };
}

/** The same as a fact of the journal has it. */
export const failureFact = (message: string): Extract<EntryFact, { kind: "attempt.failed" }>["failure"] =>
  failure(message) as ReturnType<typeof failureFact>;

interface AttemptOptions extends Partial<Omit<AttemptView, "status" | "startedAt" | "endedAt">> {
  readonly from: number;
  /** Missing while it runs. */
  readonly to?: number;
  readonly steps?: number;
}

const random = seeded(7);

export function attempt(status: AttemptView["status"], options: AttemptOptions): AttemptView {
  const { from, to, steps = 14, ...rest } = options;
  const lengthMs = (from - (to ?? 0)) * 60_000;
  const offsets = Array.from({ length: steps }, () => Math.round(random() * lengthMs)).sort((a, b) => a - b);
  return {
    round: 1,
    attempt: 1,
    failure: null,
    costUsd: 0.2,
    healed: false,
    healing: [],
    putBack: null,
    stuck: false,
    waits: [],
    modelSteps: offsets.filter((_, index) => index % 3 !== 1),
    toolSteps: offsets.filter((_, index) => index % 3 === 1),
    ...rest,
    status,
    startedAt: minutesAgo(from),
    endedAt: to === undefined ? null : minutesAgo(to),
  };
}

export function persona(name: string, status: RunStatus, options: Partial<PersonaView> = {}): PersonaView {
  const last = options.attempts?.at(-1);
  return {
    name,
    status,
    round: last?.round ?? 0,
    attempt: last?.attempt ?? 0,
    attempts: [],
    usage: usage(status === "pending" ? 0 : 0.22),
    maxAttempts: 3,
    maxRounds: 2,
    needsYou: false,
    summary: null,
    activity: null,
    held: null,
    ...options,
  };
}

export function phase(name: string, status: RunStatus, options: Partial<PhaseView> = {}): PhaseView {
  return {
    name,
    status,
    gate: null,
    putBack: [],
    checkpoint: null,
    dependsOn: [],
    startedAt: null,
    endedAt: null,
    costUsd: status === "pending" ? null : 0.38,
    concurrency: 4,
    personas: [],
    ...options,
  };
}

const sealed = (minutes: number, of: string): NonNullable<PhaseView["checkpoint"]> => ({
  revision: 1,
  sha256: sha(of),
  sealedAt: minutesAgo(minutes),
});

const crockford = "0123456789abcdefghjkmnpqrstvwxyz";

/** Has the form of a session's id. */
export function idOf(name: string): string {
  const hash = createHash("sha256").update(name).digest();
  let id = "01ka9";
  for (let index = 0; id.length < 26; index += 1) id += crockford[(hash[index % 32] ?? 0) % 32];
  return id;
}

type ViewInput = Pick<SessionView, "brief" | "team" | "status" | "situation"> & {
  readonly key: string;
} & Partial<Omit<SessionView, "key">>;

export function view(input: ViewInput): SessionView {
  return {
    id: idOf(input.key),
    owner: null,
    tickets: [],
    reason: null,
    createdAt: minutesAgo(30),
    updatedAt: minutesAgo(0),
    usage: usage(0),
    simulated: false,
    since: minutesAgo(30),
    limitUsd: null,
    limitTokens: null,
    forkOf: null,
    model: "anthropic/claude-sonnet-4-5",
    ticket: null,
    epoch: 1,
    baseline: [],
    attachments: [],
    source: null,
    entries: 200,
    headline: null,
    waiting: [],
    effects: [],
    explanation: { lost: "", cost: "", why: null, todo: [], resume: null, needs: [], raise: null },
    chainVerified: true,
    reservedUsd: 0,
    restarts: [],
    teamFile: null,
    stop: null,
    review: null,
    forecast: null,
    phases: [],
    budgets: [],
    decisions: [],
    artifacts: [],
    ...input,
  };
}

/** The row of a session in the list. */
export function rowOf(session: SessionView): SessionRow {
  const { id, key, team, status, reason, createdAt, updatedAt, usage, brief, simulated, since } = session;
  const { headline, situation, limitUsd, limitTokens, forkOf, phases } = session;
  return {
    id,
    key,
    team,
    status,
    reason,
    createdAt,
    updatedAt,
    usage,
    brief: brief.slice(0, 200),
    owner: session.owner,
    simulated,
    since,
    headline,
    situation,
    phases: phases.slice(0, 40).map(({ name, status }) => ({ name, status })),
    phaseCount: phases.length,
    limitUsd,
    limitTokens,
    forkOf,
  };
}

/** One persona writes, one waits for its next attempt, one for a breaker. */
export function parkingOne(): SessionView {
  const done = (name: string) =>
    persona(name, "completed", { attempts: [attempt("completed", { from: 20, to: 18 })] });
  const failed = (from: number, to: number) =>
    attempt("failed", { from, to, failure: failure("TS2345 in src/pay/Form.tsx", { source: "typecheck" }) });
  return view({
    key: "parking-1",
    brief: "A parking app for one city",
    team: "product",
    status: "running",
    situation: { kind: "running", phases: ["implementation"], latest: null, held: [], driverDied: false },
    budgets: [
      {
        level: "session",
        phase: null,
        persona: null,
        limitUsd: 12,
        usedUsd: 3.42,
        reservedUsd: 0.38,
        forecastUsd: 6.9,
        limitTokens: null,
        usedTokens: 341_000,
        reservedTokens: 38_000,
      },
    ],
    phases: [
      phase("requirements", "completed", {
        checkpoint: sealed(25, "requirements"),
        personas: [done("requirement_analyst")],
      }),
      phase("design", "completed", {
        dependsOn: ["requirements"],
        checkpoint: sealed(18, "design"),
        personas: [done("solution_architect"), done("security_specialist")],
      }),
      phase("implementation", "running", {
        dependsOn: ["design"],
        startedAt: minutesAgo(17.7),
        personas: [
          done("ui_ux_designer"),
          persona("database_specialist", "completed", {
            attempts: [failed(17.7, 15.7), attempt("completed", { attempt: 2, from: 15.2, to: 10.8 })],
          }),
          persona("backend_developer", "running", { attempts: [attempt("running", { from: 10.7 })] }),
          persona("frontend_developer", "failed", {
            held: { kind: "retry", notBefore: secondsAhead(25), because: "typecheck failed, 2 errors" },
            attempts: [failed(12.9, 7.1)],
          }),
          persona("security_specialist", "running", {
            held: { kind: "breaker", dependency: "openai", probeAt: secondsAhead(101) },
            attempts: [attempt("running", { from: 17.7 })],
          }),
        ],
      }),
      phase("testing", "pending", {
        dependsOn: ["implementation"],
        personas: [persona("qa_engineer", "pending")],
      }),
      phase("deployment", "pending", {
        dependsOn: ["testing"],
        personas: [persona("devops_engineer", "pending")],
      }),
    ],
  });
}

/** Parked for help after six failed attempts of one of four personas. */
export function parkingPayments(): SessionView {
  const running = parkingOne();
  const [requirements, design] = running.phases;
  const done = (name: string) =>
    persona(name, "completed", { attempts: [attempt("completed", { from: 46, to: 40 })] });
  const attempts = Array.from({ length: 6 }, (_, index) =>
    attempt("failed", {
      round: index < 3 ? 1 : 2,
      attempt: (index % 3) + 1,
      from: 41 - index * 4,
      to: 38 - index * 4,
      failure: failure("expected 201, got 422", { source: "api-tests" }),
    }),
  );
  return {
    ...running,
    status: "parked",
    reason: "help",
    situation: {
      kind: "help",
      phase: "implementation",
      persona: "backend_developer",
      personas: 1,
    },
    phases: [
      ...(requirements === undefined || design === undefined ? [] : [requirements, design]),
      phase("implementation", "failed", {
        dependsOn: ["design"],
        startedAt: minutesAgo(46.8),
        personas: [
          persona("backend_developer", "failed", { attempts }),
          done("frontend_developer"),
          done("database_specialist"),
          done("ui_ux_designer"),
        ],
      }),
      phase("testing", "pending", { dependsOn: ["implementation"] }),
    ],
  };
}

/** 1,000 personas: 3 failed, 6 wait for their next attempt, 41 run, the rest is completed or pending. */
export function hugePhase(): PhaseView {
  const kind = (index: number): PersonaView => {
    const name = `translator_${String(index + 1).padStart(4, "0")}`;
    if (index % 333 === 332) return persona(name, "failed");
    if (index % 160 === 80)
      return persona(name, "failed", {
        held: { kind: "retry", notBefore: secondsAhead(40), because: "placeholders differ" },
      });
    if (index >= 821 && index < 862) return persona(name, "running");
    return persona(name, index < 862 ? "completed" : "pending");
  };
  return phase("translation", "running", {
    personas: Array.from({ length: 1000 }, (_, index) => kind(index)),
  });
}
