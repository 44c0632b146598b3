import { Store } from "../live/store.ts";

type Theme = "light" | "dark";

/** Storage may be full or forbidden. The page works without it. */
function remembered(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The value still applies to this visit.
  }
}

/** theme.js has set it before the first paint. */
export const theme = new Store<Theme>(
  document.documentElement.dataset["theme"] === "dark" ? "dark" : "light",
);

export function setTheme(next: Theme): void {
  document.documentElement.dataset["theme"] = next;
  remember("maestro.theme", next);
  theme.set(next);
}

export const singleKeys = new Store<boolean>(remembered("maestro.keys") !== "off");

export function setSingleKeys(on: boolean): void {
  remember("maestro.keys", on ? "on" : "off");
  singleKeys.set(on);
}
