import { type HTMLAttributes, type ReactNode, useLayoutEffect, useRef } from "react";
import { type Placement, place } from "./placement.ts";

interface Props extends HTMLAttributes<HTMLDivElement> {
  readonly at: Placement;
  readonly children?: ReactNode;
  /** Told about the element, as virtual lists want it. */
  readonly measure?: (element: HTMLDivElement | null) => void;
}

/** A box at a place that was computed. */
export function Placed({ at, children, measure, ...rest }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (ref.current !== null) place(ref.current, at);
  });
  useLayoutEffect(() => {
    measure?.(ref.current);
  });
  return (
    <div ref={ref} {...rest}>
      {children}
    </div>
  );
}
