/** Hatches and dots of the timeline, defined once for the whole page. Bars refer to them. */
export function TimelinePatterns() {
  return (
    <svg className="patterns" width="0" height="0" aria-hidden="true">
      <defs>
        <pattern
          id="hatch-failed"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(-45)"
        >
          <rect className="hatch-failed-back" width="6" height="6" />
          <rect className="hatch-failed-line" width="6" height="2" />
        </pattern>
        <pattern
          id="hatch-waits"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect className="hatch-waits-back" width="6" height="6" />
          <rect className="hatch-waits-line" width="6" height="2" />
        </pattern>
      </defs>
    </svg>
  );
}
