import { useState } from "react";
import { say } from "../shell/announcer.tsx";
import { Icon } from "./icons.tsx";

interface Props {
  readonly text: string;
  readonly label?: string;
  /** Shows a label instead of an icon. */
  readonly link?: boolean;
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    say({ text: "Copied.", urgent: true });
    return true;
  } catch {
    say({ text: "The browser did not allow copying.", urgent: true });
    return false;
  }
}

export function CopyButton({ text, label = "Copy", link = false }: Props) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    void copyText(text).then((done) => {
      setCopied(done);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  if (link)
    return (
      <button type="button" className="link" onClick={copy}>
        {copied ? "Copied" : label}
      </button>
    );
  return (
    <button type="button" className="button bare icon small" aria-label={label} title={label} onClick={copy}>
      <Icon name={copied ? "check" : "copy"} size={14} />
    </button>
  );
}

/** The same action as a CLI command. */
export function CommandLine({ command, aside }: { readonly command: string; readonly aside?: string }) {
  return (
    <div className="command">
      <code>{command}</code>
      {aside === undefined ? null : <span className="aside">{aside}</span>}
      <CopyButton text={command} label="Copy the command" />
    </div>
  );
}
