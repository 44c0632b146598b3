/** What a run in the background tells the process that started it. */
export interface Begun {
  readonly begun: string;
}

export function tellStarter(id: string): void {
  if (process.connected) process.send?.({ begun: id } satisfies Begun);
}
