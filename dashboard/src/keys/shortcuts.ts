import { useEffect, useRef } from "react";
import { singleKeys } from "../shell/settings.ts";
import { noSequence, readPress } from "./key-sequence.ts";

type Handler = () => void;

/** The newest handler of a key is called, so a panel's keys precede those of the page beneath. */
const handlers = new Map<string, Handler[]>();
let sequence = noSequence;

export function listenForKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const { key, ctrlKey, metaKey, altKey } = event;
    const press = { key, ctrlKey, metaKey, altKey, typing: isTyping(event.target), at: event.timeStamp };
    const { state, shortcut } = readPress(sequence, press, singleKeys.get());
    sequence = state;
    if (shortcut === undefined) return;
    // Behind an open dialog no shortcut works, except the dialog's own keys and the browser's Escape.
    if (shortcut !== "mod+k" && document.querySelector("dialog:modal") !== null) return;
    const handler = handlers.get(shortcut)?.at(-1);
    if (handler === undefined) return;
    event.preventDefault();
    handler();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"))
  );
}

/** Shortcuts must be harmless: they open things and never spend money. */
export function useShortcut(shortcut: string, run: Handler, enabled = true): void {
  const current = useRef(run);
  useEffect(() => {
    current.current = run;
  });
  useEffect(() => {
    if (!enabled) return;
    const handler = () => current.current();
    handlers.set(shortcut, [...(handlers.get(shortcut) ?? []), handler]);
    return () => {
      handlers.set(
        shortcut,
        (handlers.get(shortcut) ?? []).filter((each) => each !== handler),
      );
    };
  }, [shortcut, enabled]);
}
