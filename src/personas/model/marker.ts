import type { Prompt } from "./sdk-types.ts";

export interface Asking {
  readonly persona: string;
  readonly phase: string;
  readonly attempt: number;
}

/** The first line of every model's instructions: it tells a model who it is, and the simulated one whose script to play. */
export const markerLine = ({ persona, phase, attempt }: Asking): string =>
  `You are ${persona} in phase ${phase}, attempt ${attempt}.`;

const marker = /^You are (\S{1,64}) in phase (\S{1,64}), attempt (\d{1,6})\.$/m;

export function whoAsks(prompt: Prompt): Asking | undefined {
  for (const message of prompt) {
    const found = message.role === "system" ? marker.exec(message.content.slice(0, 400)) : null;
    if (found !== null) return { persona: found[1] ?? "", phase: found[2] ?? "", attempt: Number(found[3]) };
  }
  return undefined;
}
