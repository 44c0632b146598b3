import type { PersonaDetail } from "../api/types.ts";
import { plainText } from "../format/plain-text.ts";
import { CopyButton } from "../ui/copy.tsx";

export function PromptTab({ detail: { instructions, prompt } }: { readonly detail: PersonaDetail }) {
  return (
    <div className="prompt">
      <section>
        <h3>Instructions</h3>
        <p className="prose outside">{plainText(instructions)}</p>
      </section>
      <section>
        <h3>
          Prompt as sent {prompt === null ? null : <CopyButton text={prompt} label="Copy the prompt" />}
        </h3>
        {prompt === null ? (
          <p className="ink-2">Nothing was sent yet.</p>
        ) : (
          <pre className="prompt-text outside">{plainText(prompt)}</pre>
        )}
      </section>
    </div>
  );
}
