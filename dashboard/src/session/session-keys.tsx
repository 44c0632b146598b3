import { useMemo } from "react";
import { useLocation } from "wouter";
import { useShortcut } from "../keys/shortcuts.ts";
import { type Command, useCommands } from "../shell/commands.ts";
import { useCommand } from "../shell/use-command.ts";
import { copyText } from "../ui/copy.tsx";
import { sessionAddress } from "../url/session-url.ts";
import { useScene } from "./context.ts";
import type { TabInfo } from "./tabs.ts";

/** Keys and commands of a session. They open things and never spend money. */
export function SessionKeys({ tabs }: { readonly tabs: readonly TabInfo[] }) {
  const { view, name, open } = useScene();
  const [, navigate] = useLocation();
  const go = (index: number) => {
    const tab = tabs[index]?.tab;
    if (tab !== undefined) navigate(sessionAddress(name, tab));
  };
  const { status, reason } = view;
  const canPause = status === "running" || status === "queued";
  const isReview = status === "parked" && reason === "review";
  const canResume = status === "paused" || status === "failed" || (status === "parked" && !isReview);
  // Waiting calls have their own forms.
  const review = isReview && view.review !== null;
  const command = useCommand();
  const { resume } = view.explanation;
  const resumeText =
    resume === null ? undefined : resume.command === null ? resume.text : command(...resume.command.slice(1));
  useShortcut("1", () => go(0));
  useShortcut("2", () => go(1));
  useShortcut("3", () => go(2));
  useShortcut("4", () => go(3));
  useShortcut("5", () => go(4));
  useShortcut("6", () => go(5));
  useShortcut("7", () => go(6));
  useShortcut("c", () => void copyText(resumeText ?? ""), resumeText !== undefined);
  useShortcut("r", () => open({ kind: "resume" }), canResume);
  useShortcut("f", () => open({ kind: "fork" }));
  useShortcut("p", () => open({ kind: "pause" }), canPause);
  useShortcut("a", () => open({ kind: "approve" }), review);
  useShortcut("x", () => open({ kind: "reject" }), review);
  const list = useMemo((): readonly Command[] => {
    const tabCommands = tabs.map(({ tab, name: title }, index) => ({
      name: `Show ${title.toLowerCase()}`,
      keys: String(index + 1),
      run: () => navigate(sessionAddress(name, tab)),
    }));
    return [
      ...(canPause ? [{ name: "Pause this session…", keys: "p", run: () => open({ kind: "pause" }) }] : []),
      ...(canResume
        ? [{ name: "Resume this session…", keys: "r", run: () => open({ kind: "resume" }) }]
        : []),
      ...(review
        ? [
            { name: "Approve…", keys: "a", run: () => open({ kind: "approve" }) },
            { name: "Reject…", keys: "x", run: () => open({ kind: "reject" }) },
          ]
        : []),
      { name: "Fork this session…", keys: "f", run: () => open({ kind: "fork" }) },
      ...(resumeText === undefined
        ? []
        : [{ name: "Copy the resume command", keys: "c", run: () => void copyText(resumeText) }]),
      ...tabCommands,
    ];
  }, [tabs, name, navigate, open, canPause, canResume, review, resumeText]);
  useCommands(list);
  return null;
}
