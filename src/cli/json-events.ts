import type { Maestro, SessionEvent } from "../index.ts";
import { beginsDrive } from "../journal/facts.ts";
import { printJson } from "./output.ts";

/**
 * Prints one event per line. The first live event is the claim. Earlier new rows (the creation of a session, a
 * waiting signal) are read from the journal, so that the output is complete.
 */
export class JsonEvents {
  /** Events heard before the earlier rows were read. */
  #early: SessionEvent[] | undefined = [];
  #session: { readonly maestro: Maestro; readonly id: string } | undefined;
  #filling: Promise<void> | undefined;

  hear(event: SessionEvent): void {
    // The recorded step replaces these events.
    if (event.kind === "text" || event.kind === "step.began") return;
    if (this.#early === undefined) return printJson(event);
    this.#early.push(event);
    this.#fill();
  }

  follow(maestro: Maestro, id: string): void {
    this.#session = { maestro, id };
    this.#fill();
  }

  async close(): Promise<void> {
    await this.#filling;
    this.#flush();
  }

  #fill(): void {
    const first = this.#early?.find((event) => "seq" in event);
    if (this.#session === undefined || first === undefined || this.#filling !== undefined) return;
    this.#filling = this.#printBefore(first.seq).finally(() => this.#flush());
  }

  async #printBefore(seq: number): Promise<void> {
    if (this.#session === undefined) return;
    const { maestro, id } = this.#session;
    let before: SessionEvent[] = [];
    let isNew = true;
    for await (const event of maestro.events(id, { follow: false })) {
      if ("seq" in event && event.seq >= seq) break;
      if (beginsDrive(event)) isNew = false;
      before = isNew || event.kind === "signal.received" ? [...before, event] : [];
    }
    for (const event of before) printJson(event);
  }

  #flush(): void {
    for (const event of this.#early ?? []) printJson(event);
    this.#early = undefined;
  }
}
