import { defineTeam, type Maestro, open, persona, phase, type Team } from "./maestro.ts";

/** About 1 KiB and different each time, like a model's answer; cheap to make, so that it does not affect the measurement. */
const noise = Array.from({ length: 4_096 }, (_, at) => Math.imul(at + 1, 2_654_435_761).toString(36)).join(
  "",
);
let offset = 0;
export function answer(tag: string, bytes = 1_024): string {
  offset = (offset + 97) % (noise.length - bytes);
  return `${tag}:${noise.slice(offset, offset + bytes - tag.length - 1)}`;
}

/** One persona whose work is `steps` durable steps; `onStep` runs inside each, before its answer is made. */
export function stepsTeam(
  steps: number,
  onStep: (index: number, sessionId: string) => void | Promise<void> = () => {},
): Team {
  const worker = persona("worker", {
    run: async (ctx) => {
      const { sessionId } = ctx.context;
      for (let index = 0; index < steps; index += 1) {
        await ctx.step(`step-${index}`, async () => {
          const waiting = onStep(index, sessionId);
          if (waiting !== undefined) await waiting;
          return answer(`${sessionId}/${index}`);
        });
      }
      return { summary: "done" };
    },
  });
  return defineTeam("bench", { phases: [phase("work", { personas: [worker] })] });
}

export function openState(stateDir: string, ...teams: Team[]): Promise<Maestro> {
  return open({ stateDir, teams });
}
