import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { client } from "../api/client.ts";
import { useStore } from "../live/store.ts";
import { sessionWord } from "../sentences/status-word.ts";
import { nameOf } from "../sessions/row.tsx";
import { StatusMark } from "../status/status.tsx";
import { Icon } from "../ui/icons.tsx";
import { addressOf } from "../url/session-url.ts";
import { type Command, commands, matchCommands, openPanel } from "./commands.ts";
import { setTheme, theme } from "./settings.ts";
import { signOut } from "./sign-out.ts";

interface Choice extends Command {
  readonly mark?: React.ReactNode;
  readonly aside?: string;
}

export default function CommandBox({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  const [current, setCurrent] = useState(0);
  const page = useStore(commands);
  const shown = useStore(theme);
  const wanted = useDebounced(text.trim());
  const sessions = useQuery({
    queryKey: ["command-box", wanted],
    queryFn: ({ signal }) =>
      client.sessions(
        { status: "parked,running,queued,paused,completed,failed,canceled", q: wanted, limit: 8 },
        signal,
      ),
    enabled: wanted !== "",
  });
  useEffect(() => {
    if (dialog.current !== null && !dialog.current.open) dialog.current.showModal();
    input.current?.focus();
  }, []);

  const choices = useMemo((): readonly Choice[] => {
    const everywhere: Choice[] = [
      { name: "Go to sessions", keys: "g s", run: () => navigate("/") },
      { name: "Go to what needs you", run: () => navigate("/?view=needs-you") },
      { name: "Go to usage", keys: "g u", run: () => navigate("/usage") },
      { name: "Go to health", keys: "g h", run: () => navigate("/health") },
      { name: "Start a session…", keys: "n", run: () => openPanel.set("start") },
      {
        name: shown === "dark" ? "Use the light theme" : "Use the dark theme",
        run: () => setTheme(shown === "dark" ? "light" : "dark"),
      },
      { name: "Show all keys", keys: "?", run: () => openPanel.set("help") },
      { name: "Sign out", run: () => void signOut() },
    ];
    const found = (text.trim() === "" ? [] : (sessions.data?.sessions ?? [])).map((row): Choice => {
      const { icon, tone } = sessionWord(row.status, row.reason);
      return {
        name: nameOf(row),
        aside: row.team,
        mark: <StatusMark icon={icon} tone={tone} />,
        run: () => navigate(addressOf(row)),
      };
    });
    return [...matchCommands([...page, ...everywhere], text), ...found];
  }, [page, text, sessions.data, shown, navigate]);

  const at = Math.min(current, Math.max(0, choices.length - 1));
  const run = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    dialog.current?.close();
    // Runs after the dialog has restored the focus, which the newly opened panel then takes.
    setTimeout(choice.run, 0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setCurrent(Math.min(choices.length - 1, at + 1));
    else if (event.key === "ArrowUp") setCurrent(Math.max(0, at - 1));
    else if (event.key === "Enter") run(choices[at]);
    else return;
    event.preventDefault();
  };
  return (
    // oxlint-disable-next-line click-events-have-key-events, no-noninteractive-element-interactions -- Escape does the same
    <dialog
      ref={dialog}
      className="dialog command-box"
      aria-label="Search or run a command"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div className="command-input">
        <Icon name="search" />
        <input
          ref={input}
          role="combobox"
          aria-expanded="true"
          aria-controls="command-list"
          aria-activedescendant={choices.length === 0 ? undefined : `command-${at}`}
          aria-label="Command, or a session's key, brief or id"
          placeholder="Command, or a session's key, brief or id"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setCurrent(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id="command-list" role="listbox" aria-label="Commands and sessions" className="command-list">
        {choices.map((choice, index) => (
          // oxlint-disable-next-line click-events-have-key-events -- keys are handled by the field, which keeps the focus
          <div
            key={`${index} ${choice.name}`}
            id={`command-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className="command-choice"
            onClick={() => run(choice)}
            onPointerMove={() => setCurrent(index)}
          >
            {choice.mark ?? <Icon name="right" size={13} />}
            <span className="one-line outside">{choice.name}</span>
            {choice.aside === undefined ? null : <span className="ink-3 one-line">{choice.aside}</span>}
            <span className="spring" />
            {choice.keys?.split(" ").map((key) => (
              <kbd key={key} className="key">
                {key}
              </kbd>
            ))}
          </div>
        ))}
      </div>
      {choices.length === 0 ? <p className="command-none">Nothing matches.</p> : null}
    </dialog>
  );
}

/** The last value that stayed stable for a moment. */
function useDebounced(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 150);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
