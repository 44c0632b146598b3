interface Props {
  readonly used: number;
  readonly reserved?: number;
  readonly limit: number;
  readonly forecast?: number | null;
  readonly width: number;
  /** Nothing more can be spent. */
  readonly full?: boolean;
}

/** The spent and reserved parts of a limit. The numbers are beside it, so the picture is for the eye only. */
export function SpendBar({ used, reserved = 0, limit, forecast = null, width, full = false }: Props) {
  const scale = (value: number) => (limit <= 0 ? 0 : Math.min(1, Math.max(0, value / limit)) * width);
  const [usedWidth, bothWidth] = [scale(used), scale(used + reserved)];
  return (
    <svg
      className="spend-bar"
      width={width}
      height="10"
      viewBox={`0 0 ${width} 10`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect className="spend-track" x="0" y="3" width={width} height="4" />
      <rect
        className="spend-reserved"
        x={usedWidth}
        y="3"
        width={Math.max(0, bothWidth - usedWidth)}
        height="4"
      />
      <rect className={full ? "spend-used full" : "spend-used"} x="0" y="3" width={usedWidth} height="4" />
      {forecast === null ? null : (
        <path className="spend-forecast" d={`M${Math.max(1, scale(forecast) - 1)} 0v10`} />
      )}
    </svg>
  );
}
