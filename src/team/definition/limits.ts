/** Limits of a definition, in a file and in code. */
export const definitionLimits = {
  fileBytes: 1024 * 1024,
  phases: 1_000,
  /** Counted per phase: a persona in three phases counts three times. */
  personas: 10_000,
  instructionsBytes: 256 * 1024,
  schemaBytes: 256 * 1024,
  schemaDepth: 64,
  /** Characters of all personas, counted per phase. */
  characters: 16 * 1024 * 1024,
  listItems: 1_000,
  problems: 100,
} as const;
