import { useQuery } from "@tanstack/react-query";
import { blobQuery } from "../api/queries.ts";
import { decodeText, mostShownBytes } from "./decode.ts";

/** Not text, or too large to be shown as text: undefined. */
const readText = (content: Uint8Array) => ({
  text: content.length > mostShownBytes ? undefined : decodeText(content),
  bytes: content.length,
});

/** An artifact as text. `null` as hash means that there is no file, which reads as empty. */
export function useText(sessionId: string, sha256: string | null) {
  const query = useQuery({
    ...blobQuery(sessionId, sha256 ?? ""),
    enabled: sha256 !== null,
    select: readText,
  });
  if (sha256 === null) return { data: { text: "", bytes: 0 }, error: null, refetch: query.refetch };
  return query;
}
