import { describe, expect, it, onTestFinished } from "vitest";
import { openReadonly } from "../../src/api/open-readonly.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { TranscriptItem } from "../../src/journal/transcript/item.ts";
import { sendAgain } from "../support/sent-calls.ts";
import { callsIn, kindOf, timeless, transcriptIn } from "../support/transcripts.ts";
import { ModelPlace } from "./support/model-place.ts";
import { answersNeeded } from "./support/model-replies.ts";

const kills = 10;
const personas = ["analyst", "backend", "frontend", "reviewer"];

interface Told {
  readonly items: readonly TranscriptItem[];
  /** Hashes of the provider's bodies, each once. */
  readonly bodies: ReadonlySet<string>;
  readonly requests: number;
}

/** A whole session; its process is killed at every second request until it was killed `times` times. */
async function tell(times: number): Promise<Told> {
  const place = await ModelPlace.open("anthropic/claude-sonnet-4-5");
  onTestFinished(() => place.remove());
  for (let killed = 0; ; killed += 1) {
    const program = place.drive();
    let answers = 0;
    place.models.onAnswer = () => {
      answers += 1;
      if (killed < times && answers === 2) program.signal("SIGKILL");
    };
    const { code, signal, stderr } = await program.ended;
    if (signal === "SIGKILL") continue;
    expect(killed, stderr).toBe(times);
    expect(code, stderr).toBe(0);
    break;
  }
  const loaded = await loadConfig({ env: {}, overrides: { stateDir: place.stateDir } });
  const maestro = await openReadonly({ loaded });
  try {
    const { log } = place.models;
    const bodies = new Set(log.map(({ hash }) => hash));
    return { items: await transcriptIn(maestro, "shelf"), bodies, requests: log.length };
  } finally {
    await maestro.close();
  }
}

describe("the transcript of a session that was killed ten times", () => {
  it("has the calls that the provider got, and equals that of an undisturbed run", async () => {
    const undisturbed = await tell(0);
    const killed = await tell(kills);
    for (const { items, bodies } of [undisturbed, killed]) {
      const sent = await sendAgain(callsIn(items));
      expect(sent).toHaveLength(answersNeeded);
      expect(new Set(sent)).toEqual(bodies);
    }
    const lost = kindOf(killed.items, "answer").filter(({ estimated }) => estimated);
    expect(killed.requests - answersNeeded).toBeGreaterThan(0);
    expect(lost.length).toBeGreaterThanOrEqual(killed.requests - answersNeeded);
    for (const { usage } of lost) expect(usage?.estimatedTokens).toBeGreaterThan(0);
    for (const persona of personas)
      expect(untold(timeless(killed.items, persona))).toEqual(untold(timeless(undisturbed.items, persona)));
  });
});

/** Every answer of the provider reports other tokens, by the number of its request. */
const untold = (items: readonly unknown[]): unknown =>
  JSON.parse(JSON.stringify(items, (key, value) => (key === "usage" ? undefined : value)));
