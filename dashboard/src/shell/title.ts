import { useEffect } from "react";

/** A session's tab shows its status and key, other tabs the product name. */
export function useTitle(title: string, ofSession = false): void {
  useEffect(() => {
    document.title = title === "" ? "Maestro" : ofSession ? title : `${title} · Maestro`;
  }, [title, ofSession]);
}
