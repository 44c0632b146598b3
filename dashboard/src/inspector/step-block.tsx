import { memo, useState } from "react";
import type { StepBlock } from "../api/types.ts";
import { count, counted } from "../format/count.ts";
import { oneLine, plainText } from "../format/plain-text.ts";
import { clockSeconds } from "../format/time.ts";
import { StatusMark } from "../status/status.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";

type ToolBlock = Extract<StepBlock, { kind: "tool" }>;

const icons: Readonly<Record<NonNullable<ToolBlock["doing"]>, IconName>> = {
  reads: "file",
  lists: "folder",
  searches: "search",
  edits: "pencil",
  writes: "pencil",
  deletes: "pencil",
  moves: "pencil",
  checks: "check",
  submits: "check",
  runs: "terminal",
  asks: "ticket",
};

/** A recorded step. All of its text is untrusted and shown as text. */
export const StepBlockView = memo(function StepBlockView({ block }: { readonly block: StepBlock }) {
  switch (block.kind) {
    case "text":
      return <Prose text={block.text} />;
    case "restart":
      return (
        <p className="restart-line">
          <Icon name="restart" size={13} />
          <span>
            Restarted {clockSeconds(Date.parse(block.at))}. {counted(block.replayed, "step")} replayed,{" "}
            {block.paidAgain === 0 ? "none" : count(block.paidAgain)} paid again
          </span>
        </p>
      );
    case "tool":
      return <ToolLine block={block} />;
    case "edit":
      return (
        <div className="step-box">
          <div className="step-head">
            <Icon name="pencil" size={13} />
            <span className="step-tool">{block.tool}</span>
            <span className="step-target one-line outside">{oneLine(block.path)}</span>
            <span className="step-outcome">
              <span className="add">+{block.addedLines}</span>{" "}
              <span className="del">−{block.removedLines}</span>
            </span>
          </div>
          <MiniDiff lines={block.lines} />
        </div>
      );
  }
});

const foldedLines = 200;

/** Folds long blocks. */
function Prose({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false);
  const plain = plainText(text);
  const lines = plain.split("\n");
  if (lines.length <= foldedLines || open) return <p className="prose outside">{plain}</p>;
  return (
    <div>
      <p className="prose outside">{lines.slice(0, 20).join("\n")}</p>
      <button type="button" className="link" onClick={() => setOpen(true)}>
        Show all {count(lines.length)} lines
      </button>
    </div>
  );
}

function ToolLine({ block }: { readonly block: ToolBlock }) {
  const { tool, doing, target, outcome, status, output } = block;
  const [open, setOpen] = useState(status === "failed");
  const head = (
    <>
      {status === "running" ? (
        <StatusMark icon="running" tone="running" size={14} />
      ) : status === "failed" ? (
        <StatusMark icon="failed" tone="failed" size={14} label="failed" />
      ) : doing === "checks" ? (
        <StatusMark icon="completed" tone="completed" size={14} label="passed" />
      ) : (
        <Icon name={doing === null ? "terminal" : icons[doing]} size={13} />
      )}
      <span className="step-tool">{tool}</span>
      <span className="step-target one-line outside">{oneLine(target)}</span>
      <span className="step-outcome one-line outside">{oneLine(outcome, 80)}</span>
    </>
  );
  if (output === null) return <div className="step-box step-head">{head}</div>;
  return (
    <div className="step-box">
      <button type="button" className="step-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        {head}
      </button>
      {open ? <Output text={output} /> : null}
    </div>
  );
}

/** The beginning and, on request, the rest, in its own box so that wide lines stay inside. */
export function Output({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false);
  const lines = plainText(text).split("\n");
  const shown = all ? lines.slice(0, 20_000) : lines.slice(0, foldedLines);
  return (
    <div className="step-output">
      <pre role="region" aria-label="Output" tabIndex={0}>
        {shown.join("\n")}
      </pre>
      {lines.length > shown.length ? (
        <button type="button" className="link" onClick={() => setAll(true)}>
          Show all {count(lines.length)} lines
        </button>
      ) : null}
    </div>
  );
}

function MiniDiff({
  lines,
}: {
  readonly lines: readonly {
    readonly sign: " " | "+" | "-";
    readonly number: number;
    readonly text: string;
  }[];
}) {
  return (
    <pre className="mini-diff" role="region" aria-label="Changed lines" tabIndex={0}>
      {lines.slice(0, foldedLines).map(({ sign, number, text }, index) => (
        <span
          key={index}
          className={sign === "+" ? "diff-line added" : sign === "-" ? "diff-line removed" : "diff-line"}
        >
          <span className="line-number">{number}</span>
          <span className="line-sign">{sign}</span>
          <span className="line-text">{plainText(text)}</span>
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
