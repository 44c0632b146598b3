/** What a session used of one model on one day, in one persona of one phase: sums by their names in the store. */
export interface SessionUsage {
  readonly day: string;
  readonly phase: string;
  readonly persona: string;
  readonly model: string;
  readonly sums: Readonly<Record<string, number>>;
}
