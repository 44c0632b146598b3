import { lazy, Suspense } from "react";
import { useStore } from "../live/store.ts";
import { openPanel } from "./commands.ts";

const StartPanel = lazy(() => import("../start/start-panel.tsx"));
const CommandBox = lazy(() => import("./command-box.tsx"));
const HelpPanel = lazy(() => import("./help-panel.tsx"));

const close = () => openPanel.set("none");

export function Panels() {
  const open = useStore(openPanel);
  return (
    <Suspense>
      {open === "start" ? <StartPanel onClose={close} /> : null}
      {open === "commands" ? <CommandBox onClose={close} /> : null}
      {open === "help" ? <HelpPanel onClose={close} /> : null}
    </Suspense>
  );
}
