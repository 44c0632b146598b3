import { useState } from "react";
import type { SessionView } from "../api/types.ts";
import type { Selection } from "../url/session-url.ts";
import { defaultSelection } from "./persona-state.ts";

/** The persona of the address, or the one a person most likely came for: chosen once, it does not jump about. */
export function useSelection(view: SessionView, chosen: Selection | undefined): Selection | undefined {
  const [first] = useState(() => defaultSelection(view.phases));
  return chosen ?? first ?? defaultSelection(view.phases);
}
