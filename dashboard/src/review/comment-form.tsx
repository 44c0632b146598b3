import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import type { LineComment } from "./comments.ts";

export interface CommentPlace {
  readonly line: number;
  readonly side: LineComment["side"];
}

interface Props {
  readonly path: string;
  /** Where the person pointed. The number can also be typed. */
  readonly place: CommentPlace | undefined;
  readonly onAdd: (comment: LineComment) => void;
}

/** A form for a comment at one line of the shown file. */
export function CommentForm({ path, place, onAdd }: Props) {
  const id = useId();
  const text = useRef<HTMLInputElement>(null);
  const [line, setLine] = useState(place === undefined ? "" : String(place.line));
  const [words, setWords] = useState("");
  const [error, setError] = useState<string>();
  useEffect(() => {
    if (place !== undefined) text.current?.focus();
  }, [place]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const number = /^[1-9]\d{0,6}$/.test(line.trim()) ? Number(line.trim()) : undefined;
    if (number === undefined) return setError("Name the line by its number.");
    if (words.trim() === "") return setError("Write the comment.");
    const side = place?.line === number ? place.side : "after";
    onAdd({ path, line: number, side, text: words.trim() });
    setError(undefined);
    setWords("");
    setLine("");
  };
  return (
    <form className="comment-form" onSubmit={submit} noValidate aria-label="Comment on a line">
      <label htmlFor={`${id}-line`}>Line</label>
      <input
        id={`${id}-line`}
        className="field comment-line"
        inputMode="numeric"
        value={line}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        onChange={(event) => setLine(event.target.value)}
      />
      <label htmlFor={`${id}-text`} className="unseen">
        Comment
      </label>
      <input
        id={`${id}-text`}
        ref={text}
        className="field comment-words"
        placeholder="A comment, for a rejection"
        maxLength={2000}
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <button type="submit" className="button">
        Add
      </button>
      {error === undefined ? null : (
        <p id={`${id}-error`} className="field-error" role="alert">
          {error}
        </p>
      )}
    </form>
  );
}
