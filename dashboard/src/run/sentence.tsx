import { useNow } from "../live/use-now.ts";
import { sessionSentence } from "../sentences/session-sentence.ts";
import { sessionWord } from "../sentences/status-word.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { PhraseText } from "../ui/phrase.tsx";

/** A sentence before a picture: what happens, and whether you are needed. */
export function Sentence() {
  const { view, stale } = useScene();
  const now = useNow();
  const word = sessionWord(view.status, view.reason);
  const { icon, tone } =
    stale && view.status === "running" ? ({ icon: "pending", tone: "quiet" } as const) : word;
  return (
    <div className="sentence">
      <StatusMark icon={icon} tone={tone} size={16} />
      <p className="outside">
        <PhraseText phrase={sessionSentence(view, now, stale ? "past" : "now")} />
      </p>
    </div>
  );
}
