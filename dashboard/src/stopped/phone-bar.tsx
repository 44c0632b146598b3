import { ActionButton } from "../session/action-button.tsx";

interface Way {
  readonly word: string;
  readonly run: () => void;
}

/** On a phone what can be done stays in reach of the thumb; it only opens or shows something, and never spends. */
export function PhoneBar({ other, main }: { readonly other: Way; readonly main: Way }) {
  return (
    <div className="phone-bar">
      <button type="button" className="button" onClick={other.run}>
        {other.word}
      </button>
      <ActionButton className="button primary" onClick={main.run}>
        {main.word}
      </ActionButton>
    </div>
  );
}
