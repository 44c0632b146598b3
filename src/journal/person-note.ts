/** What a person told the personas with a resume. */
export interface PersonNote {
  readonly seq: number;
  readonly text: string;
  /** The phases that were unfinished. Empty: none had begun, and every later phase gets it. */
  readonly phases: readonly string[];
}

interface InSession {
  readonly notes: readonly PersonNote[];
  readonly phases: ReadonlyMap<
    string,
    {
      readonly status: string;
      readonly personas: ReadonlyMap<string, { readonly attempts: readonly { readonly started: number }[] }>;
    }
  >;
}

/** The notes with one for the attempts that begin after it. */
export function withNote({ notes, phases }: InSession, seq: number, text: string): readonly PersonNote[] {
  const unfinished = [...phases].flatMap(([name, { status }]) => (status === "running" ? [name] : []));
  return [...notes, { seq, text, phases: unfinished }];
}

/** The notes of a conversation: those before it, so that a continued attempt sends the same prompt. */
export const notesFor = (
  { notes }: Pick<InSession, "notes">,
  phase: string,
  begun: number,
): readonly string[] =>
  notes
    .filter(({ seq, phases }) => seq < begun && (phases.length === 0 || phases.includes(phase)))
    .map(({ text }) => text);

/** A repeated request, after a crash that hid the first answer: no attempt has begun since the same note. */
export function isNoted({ notes, phases }: InSession, text: string): boolean {
  const last = notes.at(-1);
  if (last?.text !== text) return false;
  return [...phases.values()].every(({ personas }) =>
    [...personas.values()].every(({ attempts }) => (attempts.at(-1)?.started ?? 0) < last.seq),
  );
}
