import { ActionButton } from "../session/actions.tsx";

interface Way {
  readonly word: string;
  readonly run: () => void;
}

/** Keeps the choices within reach on a phone. Its buttons open or show something and never spend money. */
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
