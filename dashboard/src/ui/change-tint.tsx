import { useState } from "react";

/** Tints its line once when a value changes, but not at first and not if the user prefers reduced motion. */
export function ChangeTint({ value }: { readonly value: string }) {
  const [known, setKnown] = useState(value);
  const [changes, setChanges] = useState(0);
  if (value !== known) {
    setKnown(value);
    setChanges(changes + 1);
  }
  return changes === 0 ? null : <span key={changes} className="change-tint" aria-hidden="true" />;
}
