import type { Part, Phrase } from "../sentences/phrase.ts";

/** A sentence with highlighted names. */
export function PhraseText({ phrase }: { readonly phrase: Phrase }) {
  return phrase.map((part, index) => <PartText key={index} part={part} />);
}

function PartText({ part }: { readonly part: Part }) {
  if (typeof part === "string") return part;
  if ("strong" in part) return <b className="strong tabular">{part.strong}</b>;
  if ("held" in part) return <span className="tone-parked medium">{part.held}</span>;
  return <code className="outside">{part.code}</code>;
}
