import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { blobQuery } from "../api/queries.ts";
import type { FailureOutput, SessionView, StoppedPersona } from "../api/types.ts";
import { decodeText } from "../artifacts/text.ts";
import { counted } from "../format/count.ts";
import { oneLine, plainText } from "../format/plain-text.ts";
import { clock, duration } from "../format/time.ts";
import { aroundMarked, categoryText, sameFailureText, stoppedHeadline } from "../sentences/stopped-text.ts";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { StatusMark } from "../status/status.tsx";
import { copyText } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Loaded } from "../ui/loading.tsx";

const CodeLines = lazy(async () => ({ default: (await import("../artifacts/code-lines.tsx")).CodeLines }));

/** The reason. Missing fields are left out, never invented. */
export function WhyStopped({ stop }: { readonly stop: StoppedPersona }) {
  const { view } = useScene();
  const command = useCommand();
  const same = sameFailureText(stop.sameFailure);
  const { resume } = view.explanation;
  const resumeText =
    resume === null
      ? ""
      : resume.command === null
        ? resume.text
        : `${resume.text}: ${command(...resume.command.slice(1))}`;
  return (
    <section aria-label="Why it stopped">
      <header className="part-head">
        <h3>Why it stopped</h3>
        <span className="spring" />
        <button
          type="button"
          className="button bare small"
          onClick={() => void copyText(reportOf(view, stop, resumeText))}
        >
          <Icon name="copy" size={13} />
          Copy report
        </button>
      </header>
      <p className="why-facts">
        <span>
          <span className="ink-3">Category</span> <b className="medium">{categoryText(stop.category)}</b>
        </span>
        <span>
          <span className="ink-3">Recoverable</span>{" "}
          <b className="medium">{stop.recoverable ? "yes" : "no"}</b>
        </span>
        {same === undefined ? null : <span className="tone-failed">{same}</span>}
      </p>
      {stop.output === null ? null : <OutputLines output={stop.output} />}
      {stop.meaning === null && stop.suggestedFix === null ? null : (
        <dl className="why-said">
          {stop.meaning === null ? null : (
            <>
              <dt>What it means</dt>
              <dd className="outside">
                {plainText(stop.meaning.text)} <span className="ink-3">Said by {stop.meaning.by}.</span>
              </dd>
            </>
          )}
          {stop.suggestedFix === null ? null : (
            <>
              <dt>Suggested fix</dt>
              <dd className="outside">
                <b className="medium">{plainText(stop.suggestedFix.text)}</b>{" "}
                <span className="ink-3">Said by {stop.suggestedFix.by}.</span>
              </dd>
            </>
          )}
        </dl>
      )}
    </section>
  );
}

/** The lines that fit on the first screen; "All lines" shows the rest. */
const mostLines = 8;

function OutputLines({ output }: { readonly output: FailureOutput }) {
  const [all, setAll] = useState(false);
  const { command, exitCode, round, attempt, durationMs, lines, totalLines, sha256 } = output;
  return (
    <div className="output-box">
      <header>
        <StatusMark icon="failed" tone="failed" />
        <p className="one-line outside">
          <code>{oneLine(command)}</code>{" "}
          <span className="ink-2">
            {exitCode === null ? "" : `exit ${exitCode}, `}round {round} attempt {attempt},{" "}
            {duration(durationMs)}
          </span>
        </p>
        {sha256 === null ? null : (
          <button type="button" className="link" onClick={() => setAll(true)}>
            All {counted(totalLines, "line")}
          </button>
        )}
      </header>
      <pre role="region" aria-label="Output around the error" tabIndex={0}>
        {aroundMarked(lines, mostLines).map(({ number, text, marked }) => (
          <span key={number} className={marked ? "output-line marked" : "output-line"}>
            <span className="line-number">{number}</span>
            <span className="line-text">
              {plainText(text)}
              {"\n"}
            </span>
          </span>
        ))}
      </pre>
      {all && sha256 !== null ? (
        <AllLines sha256={sha256} command={command} onClose={() => setAll(false)} />
      ) : null}
    </div>
  );
}

interface AllLinesProps {
  readonly sha256: string;
  readonly command: string;
  readonly onClose: () => void;
}

function AllLines({ sha256, command, onClose }: AllLinesProps) {
  const { view } = useScene();
  const query = useQuery(blobQuery(view.id, sha256));
  return (
    <Dialog title={oneLine(command, 80)} kind="side" onClose={onClose}>
      <div className="all-lines">
        <Loaded query={query} failed="Could not read the output." rows={8}>
          {(content) => (
            <Suspense>
              <CodeLines
                lines={(decodeText(content) ?? "").split("\n")}
                tokens={undefined}
                label="The whole output"
              />
            </Suspense>
          )}
        </Loaded>
      </div>
    </Dialog>
  );
}

/** For a chat or a ticket: the answers of the page in its order, as plain text. */
function reportOf(view: SessionView, stop: StoppedPersona, resumeText: string): string {
  const { situation, ticket, explanation } = view;
  return [
    `${view.key ?? view.id}: ${stoppedHeadline(situation, Date.now()) ?? view.status}`,
    `Stopped at ${clock(Date.parse(view.since))}. ${explanation.lost} Nothing is running or spending.`,
    view.stop?.needs.length ? `${stop.persona}: ${plainText(stop.message ?? "")}` : "",
    `Category: ${categoryText(stop.category)}, recoverable: ${stop.recoverable ? "yes" : "no"}`,
    sameFailureText(stop.sameFailure) ?? "",
    ...(stop.output?.lines.map(
      ({ number, text, marked }) => `${marked ? ">" : " "} ${number} ${plainText(text)}`,
    ) ?? []),
    stop.meaning === null ? "" : `Means: ${plainText(stop.meaning.text)} (${stop.meaning.by})`,
    stop.suggestedFix === null ? "" : `Fix: ${plainText(stop.suggestedFix.text)} (${stop.suggestedFix.by})`,
    ticket?.key == null ? "" : `Ticket: ${ticket.key}`,
    resumeText,
  ]
    .filter((line) => line !== "")
    .join("\n");
}
