import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { blobQuery } from "../api/queries.ts";
import type { Advice, FailureOutput, SessionView, StoppedPersona } from "../api/types.ts";
import { decodeText } from "../artifacts/text.ts";
import { counted } from "../format/count.ts";
import { oneLine, plainText } from "../format/plain-text.ts";
import { clock, duration } from "../format/time.ts";
import { aroundMarked, categoryText, needOf, sameFailureText } from "../sentences/stopped-text.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { copyText } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Loaded } from "../ui/loading.tsx";
import { LongText } from "../ui/long-text.tsx";
import { AdviceList, useAdviceText } from "./advice-list.tsx";

const CodeLines = lazy(async () => ({ default: (await import("../artifacts/code-lines.tsx")).CodeLines }));

/** The server's explanation, then its evidence. Missing evidence is left out. */
export function WhyStopped({ stop }: { readonly stop: StoppedPersona | undefined }) {
  const { view } = useScene();
  const adviceText = useAdviceText();
  const { why, todo } = needOf(view.explanation, stop) ?? view.explanation;
  const same = sameFailureText(stop?.sameFailure ?? null);
  return (
    <section aria-label="Why it stopped">
      <header className="part-head">
        <h3>Why it stopped</h3>
        <span className="spring" />
        <button
          type="button"
          className="button bare small"
          onClick={() => void copyText(reportOf(view, stop, adviceText))}
        >
          <Icon name="copy" size={13} />
          Copy report
        </button>
      </header>
      {why === null ? null : (
        <div className="why-text">
          <LongText text={why} />
        </div>
      )}
      {stop === undefined ? null : (
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
      )}
      {stop?.output == null ? null : <OutputLines output={stop.output} />}
      {todo.length === 0 ? null : (
        <dl className="why-advice">
          <dt>What to do</dt>
          <dd>
            <AdviceList advice={todo} />
          </dd>
        </dl>
      )}
    </section>
  );
}

/** The lines that fit on the first screen. "All lines" shows the rest. */
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

/** The answers of the page in order as plain text, for a chat or a ticket. */
function reportOf(
  { key, id, headline, since, ticket, explanation }: SessionView,
  stop: StoppedPersona | undefined,
  adviceText: (advice: Advice) => string,
): string {
  const need = needOf(explanation, stop);
  const { todo } = need ?? explanation;
  return [
    `${key ?? id}: ${headline ?? ""}`,
    `Stopped at ${clock(Date.parse(since))}. ${explanation.lost} ${explanation.cost}`,
    explanation.why ?? "",
    need === undefined ? "" : `${need.persona}: ${need.why}`,
    ...(stop === undefined ? [] : evidenceOf(stop)),
    ...todo.map(adviceText),
    ticket?.key == null ? "" : `Ticket: ${ticket.key}`,
    explanation.resume === null ? "" : adviceText(explanation.resume),
  ]
    .filter((line) => line !== "")
    .map(plainText)
    .join("\n");
}

const evidenceOf = ({ category, recoverable, sameFailure, output }: StoppedPersona): readonly string[] => [
  `Category: ${categoryText(category)}, recoverable: ${recoverable ? "yes" : "no"}`,
  sameFailureText(sameFailure) ?? "",
  ...(output?.lines.map(({ number, text, marked }) => `${marked ? ">" : " "} ${number} ${text}`) ?? []),
];
