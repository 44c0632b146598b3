/**
 * Positions that only the running page knows. The page's policy forbids style attributes in markup; setting properties
 * of an element that is already there is allowed, so every such position goes through here.
 */
export type Placement = Readonly<Record<string, string | number>>;

export function place(element: HTMLElement, placement: Placement): void {
  for (const [name, value] of Object.entries(placement))
    element.style.setProperty(name, typeof value === "number" ? `${value}px` : value);
}
