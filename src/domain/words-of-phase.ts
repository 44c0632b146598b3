/** The files of a phase before and after a person changed them. */
export interface FilesEdit {
  readonly base?: string;
  readonly tree?: string;
}

/** What people said about a phase and changed in its files: it counts when the phase is gone through again. */
export interface WordsOfPhase {
  readonly phase: string;
  readonly notes?: readonly string[];
  readonly edit?: FilesEdit;
}
