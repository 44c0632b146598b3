import { client } from "../api/client.ts";
import { commandName } from "../format/shell-command.ts";
import { useScene } from "../session/context.ts";
import { nameOf } from "../sessions/row.tsx";
import { useCommand } from "../shell/use-command.ts";
import { CommandLine } from "../ui/copy.tsx";
import { SignalPanel } from "./signal-panel.tsx";

export default function PausePanel({ onClose }: { readonly onClose: () => void }) {
  const { view } = useScene();
  const command = useCommand();
  const calls = (view.reservedUsd ?? 1) < 0.005 ? "" : " Calls under way end first and are paid.";
  return (
    <SignalPanel
      title={`Pause ${nameOf(view)}`}
      button="Pause"
      label="Pausing…"
      failed="Could not pause."
      call={() => client.pause(view.id)}
      onClose={onClose}
    >
      <p>It stops at the next step. Nothing is lost; a resume continues from there.{calls}</p>
      <CommandLine command={command("pause", commandName(view))} />
    </SignalPanel>
  );
}
