import { access, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isTicketFingerprint, type Ticket, type TicketReference } from "../domain/ticket.ts";
import { makeDirectoryDurably, writeDurably } from "../store/durable-file.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { escapeMarkdown, renderMarkdown } from "./render.ts";
import { TicketRefused, type TicketSink } from "./ticket-sink.ts";

/** The default sink. The same problem replaces its file, so a second POST changes nothing. */
export class FileSink implements TicketSink {
  readonly name = "file";
  readonly #directory: string;

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, "tickets");
  }

  async find(fingerprint: string): Promise<TicketReference | undefined> {
    const path = this.#path(fingerprint);
    return access(path).then(
      () => referenceTo(fingerprint, path),
      () => undefined,
    );
  }

  async post(ticket: Ticket): Promise<TicketReference> {
    const path = this.#path(ticket.fingerprint);
    const safe = hideSecrets(ticket);
    try {
      await makeDirectoryDurably(this.#directory, dirname(this.#directory));
      await writeDurably(path, `# ${escapeMarkdown(safe.summary)}\n\n${renderMarkdown(safe)}`);
    } catch (cause) {
      const advice = "Make room or mend the disk; it is tried again by itself.";
      throw new TicketRefused("The ticket's file could not be written.", { cause, fault: "outage", advice });
    }
    return referenceTo(ticket.fingerprint, path);
  }

  async remove(fingerprint: string): Promise<void> {
    if (isTicketFingerprint(fingerprint)) await rm(this.#path(fingerprint), { force: true });
  }

  #path(fingerprint: string): string {
    if (!isTicketFingerprint(fingerprint))
      throw new TicketRefused("The ticket has no fingerprint to name its file.", { fault: "request" });
    return join(this.#directory, `${fingerprint}.md`);
  }
}

const referenceTo = (fingerprint: string, path: string): TicketReference => ({
  key: fingerprint,
  url: pathToFileURL(path).href,
});
