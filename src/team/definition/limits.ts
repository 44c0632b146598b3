/** Limits of a definition, in a file and in code alike. */
export const definitionLimits = {
  fileBytes: 1024 * 1024,
  phases: 1_000,
  /** Counted in each phase: a persona of three phases counts three times. */
  personas: 10_000,
  instructionsBytes: 256 * 1024,
  schemaBytes: 256 * 1024,
  schemaDepth: 64,
  /** Of all personas, counted in each phase. */
  characters: 16 * 1024 * 1024,
  listItems: 1_000,
  problems: 100,
} as const;
