import type { Direction } from "../journal/journal.ts";

/** How far a start should go; what was not said is left out. */
export function directionOf({
  only,
  from,
  until,
  pauseAfter,
}: { readonly [Key in keyof Direction]?: Direction[Key] | undefined }): Direction {
  return {
    ...(only !== undefined && { only }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
    ...(pauseAfter !== undefined && { pauseAfter }),
  };
}
