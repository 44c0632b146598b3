import { type HTMLAttributes, type ReactNode, useLayoutEffect, useRef } from "react";

/**
 * Positions computed at run time. The content security policy forbids style attributes in markup but allows setting
 * properties of an existing element, so every such position goes through here.
 */
type Placement = Readonly<Record<string, string | number>>;

export function place(element: HTMLElement, placement: Placement): void {
  for (const [name, value] of Object.entries(placement))
    element.style.setProperty(name, typeof value === "number" ? `${value}px` : value);
}

interface Props extends HTMLAttributes<HTMLDivElement> {
  readonly at: Placement;
  readonly children?: ReactNode;
  /** Receives the element, for virtual lists. */
  readonly measure?: (element: HTMLDivElement | null) => void;
}

/** A box at a computed position. */
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
