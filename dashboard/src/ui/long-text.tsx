import { useState } from "react";
import { plainText } from "../format/plain-text.ts";

const mostCharacters = 600;

/** Cuts long text until the reader asks for all of it, so that the rest of the page stays in reach. */
export function LongText({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length > mostCharacters * 1.2;
  return (
    <p className="outside">
      {plainText(isLong && !isOpen ? `${text.slice(0, mostCharacters).toWellFormed()}…` : text)}
      {isLong && !isOpen ? (
        <>
          {" "}
          <button type="button" className="link" onClick={() => setOpen(true)}>
            Show all
          </button>
        </>
      ) : null}
    </p>
  );
}
