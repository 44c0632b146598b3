import { client } from "../api/client.ts";
import { commandName } from "../format/shell-command.ts";
import { useScene } from "../session/context.ts";
import { nameOf } from "../sessions/row.tsx";
import { useCommand } from "../shell/use-command.ts";
import { CommandLine } from "../ui/copy.tsx";
import { SignalPanel } from "./signal-panel.tsx";

export default function CancelPanel({ onClose }: { readonly onClose: () => void }) {
  const { view } = useScene();
  const command = useCommand();
  return (
    <SignalPanel
      title={`Cancel ${nameOf(view)}`}
      button="Cancel the session"
      label="Canceling…"
      failed="Could not cancel."
      call={() => client.cancel(view.id)}
      onClose={onClose}
    >
      <p>
        Canceled is final: it cannot be resumed. Its checkpoints and files stay, and a fork can start from
        them. To stop for now, pause it.
      </p>
      <CommandLine command={command("cancel", commandName(view))} />
    </SignalPanel>
  );
}
