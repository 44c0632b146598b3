import { memo } from "react";
import type { SessionRow } from "../api/types.ts";
import { type Glyph, phaseGlyphs } from "./phase-glyphs.ts";

const mostGlyphs = 12;
const pitch = 13;

/** Small bars: full for done, colored for running, dashed for not reached. The text beside them has the same counts. */
export const PhaseStrip = memo(function PhaseStrip({ row }: { readonly row: SessionRow }) {
  const { glyphs, done, total } = phaseGlyphs(row);
  const words = `${done} of ${total}`;
  if (total === 0) return null;
  return (
    <span className="phase-strip">
      {total > mostGlyphs ? (
        <Share done={done} total={total} />
      ) : (
        <svg
          width={glyphs.length * pitch}
          height="11"
          viewBox={`0 0 ${glyphs.length * pitch} 11`}
          aria-hidden="true"
        >
          {glyphs.map((glyph, index) => (
            <g key={index} transform={`translate(${index * pitch} 0)`}>
              <GlyphShape glyph={glyph} />
            </g>
          ))}
        </svg>
      )}
      <span className="phase-words">{words}</span>
    </span>
  );
});

function GlyphShape({ glyph }: { readonly glyph: Glyph }) {
  if (glyph === "parked") return <path className="glyph-parked" d="M5.5.6 10.4 5.5 5.5 10.4.6 5.5z" />;
  if (glyph === "failed") return <rect className="glyph-failed" x="0" y="0" width="10" height="11" rx="1" />;
  if (glyph === "completed" || glyph === "running")
    return <rect className={`glyph-${glyph}`} x="0" y="2" width="11" height="7" rx="1" />;
  return <rect className={`glyph-${glyph}`} x=".5" y="2.5" width="10" height="6" rx="1" />;
}

function Share({ done, total }: { readonly done: number; readonly total: number }) {
  const width = 64;
  return (
    <svg width={width} height="11" viewBox={`0 0 ${width} 11`} aria-hidden="true">
      <rect className="glyph-pending" x=".5" y="2.5" width={width - 1} height="6" rx="1" />
      <rect className="glyph-completed" x="0" y="2" width={(done / total) * width} height="7" rx="1" />
    </svg>
  );
}
