import { memo } from "react";
import type { StatusIcon, StatusWord, Tone } from "../sentences/status-word.ts";
import { statusShapes } from "./icon-shapes.tsx";

interface IconProps {
  readonly icon: StatusIcon;
  readonly tone?: Tone;
  readonly size?: number;
  /** The label if no text stands beside the icon. */
  readonly label?: string;
}

export const StatusMark = memo(function StatusMark({ icon, tone, size = 15, label }: IconProps) {
  const className = `mark${tone === undefined ? "" : ` tone-${tone}`}`;
  const hidden =
    label === undefined
      ? ({ "aria-hidden": true } as const)
      : ({ role: "img", "aria-label": label } as const);
  return (
    <svg className={className} width={size} height={size} viewBox="0 0 16 16" {...hidden}>
      {statusShapes[icon]}
    </svg>
  );
});

/** Icon, word, then color: never color alone. */
export function Status({
  status,
  tinted = false,
}: {
  readonly status: StatusWord;
  readonly tinted?: boolean;
}) {
  const { icon, word, reason, tone, iconOnly = false } = status;
  const tint = tinted ? ` tinted tint-${tone}` : "";
  return (
    <span className={`status${tint}`}>
      <StatusMark icon={icon} tone={tone} />
      <span className={iconOnly ? "status-word ink-2" : `status-word tone-${tone}`}>
        {word}
        {reason === undefined ? null : (
          <>
            : <span className="status-reason">{reason}</span>
          </>
        )}
      </span>
    </span>
  );
}
