import { useQuery } from "@tanstack/react-query";
import { blobQuery } from "../api/queries.ts";
import { decodeText } from "./decode.ts";

/** An artifact as text. `null` as hash means that there is no file, which reads as empty. */
export function useText(sessionId: string, sha256: string | null) {
  const query = useQuery({
    ...blobQuery(sessionId, sha256 ?? ""),
    enabled: sha256 !== null,
    select: (content: Uint8Array) => ({ text: decodeText(content), bytes: content.length }),
  });
  if (sha256 === null) return { data: { text: "", bytes: 0 }, error: null, refetch: query.refetch };
  return query;
}
