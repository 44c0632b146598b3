import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type CommitMeasured, commitChannel } from "../../domain/channels.ts";
import type { SessionEvent } from "../../index.ts";
import { endsAttempt, isFailure } from "../../journal/facts.ts";
import { isRecorded } from "../../journal/public-fact.ts";
import type { CloseReason } from "../sse.ts";
import { Counter } from "./counter.ts";
import type { Metric } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

const stepSeconds = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const commitSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const requestSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 10];
const knownMethods: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PATCH",
  "PUT",
  "DELETE",
  "OPTIONS",
]);

/** Counters of this process, in memory. */
export class RunMetrics {
  readonly #attempts = new Counter();
  readonly #failures = new Counter();
  readonly #steps = new Histogram(stepSeconds);
  readonly #commits = new Histogram(commitSeconds);
  readonly #requests = new Counter();
  readonly #requestTimes = new Histogram(requestSeconds);
  readonly #streamsClosed = new Counter();
  readonly #onCommit = (message: unknown): void =>
    this.#commits.observe((message as CommitMeasured).durationMs / 1_000);

  start(): void {
    subscribe(commitChannel, this.#onCommit);
  }

  stop(): void {
    unsubscribe(commitChannel, this.#onCommit);
  }

  hear(event: SessionEvent): void {
    if (!isRecorded(event)) return;
    if (event.kind === "step" && event.step !== "wait" && event.tookMs !== null)
      this.#steps.observe(event.tookMs / 1_000);
    if (!endsAttempt(event)) return;
    const category = isFailure(event) && "failure" in event ? event.failure.category : undefined;
    this.#attempts.add({ outcome: category === undefined ? "completed" : "failed" });
    if (category !== undefined) this.#failures.add({ category });
  }

  request(method: string, status: number, durationMs: number): void {
    this.#requests.add({ method: knownMethods.has(method) ? method : "other", status: String(status) });
    this.#requestTimes.observe(durationMs / 1_000);
  }

  streamClosed(reason: CloseReason): void {
    this.#streamsClosed.add({ reason });
  }

  metrics(): Metric[] {
    const counter = (name: string, help: string, of: Counter): Metric => ({
      name,
      help,
      type: "counter",
      samples: of.samples(),
    });
    const histogram = (name: string, help: string, of: Histogram): Metric => ({
      name,
      help,
      type: "histogram",
      samples: of.samples(),
    });
    return [
      counter("maestro_attempts_total", "Attempts that ended in this process.", this.#attempts),
      counter("maestro_failures_total", "Failed attempts of this process, by category.", this.#failures),
      histogram("maestro_step_duration_seconds", "From the row before a step to its own.", this.#steps),
      histogram("maestro_journal_commit_seconds", "From handing over a write to its commit.", this.#commits),
      counter("maestro_http_requests_total", "Requests answered.", this.#requests),
      histogram("maestro_http_request_duration_seconds", "Until the answer begins.", this.#requestTimes),
      counter(
        "maestro_event_streams_closed_total",
        "Streams of events that ended; slow readers are dropped.",
        this.#streamsClosed,
      ),
    ];
  }
}
