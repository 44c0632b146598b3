import { useEffect } from "react";

/** A session's tab is recognized by its status and key, other pages by the product. */
export function useTitle(title: string, ofSession = false): void {
  useEffect(() => {
    document.title = title === "" ? "Maestro" : ofSession ? title : `${title} · Maestro`;
  }, [title, ofSession]);
}
