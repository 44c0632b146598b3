import { canonicalJson, sha256 } from "../domain/canonical.ts";
import { CheckpointCorrupt, InputInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../domain/json.ts";

/** The checkpoint of a phase with many personas contains all their results, which exceed any single input limit. */
export const sealedLimitBytes = 64 * 1024 * 1024;

/** The exact text of a sealed document: canonical JSON of the content, including its own hash. */
export function seal(content: JsonObject): string {
  if (Object.hasOwn(content, "sha256")) {
    throw new InputInvalid("content to be sealed has a key sha256 already", {
      advice: "Seal the bare content.",
    });
  }
  const text = canonicalJson({ ...content, sha256: sha256(canonicalJson(content)) });
  // A longer text could not be read back.
  if (Buffer.byteLength(text) > sealedLimitBytes) {
    throw new InputInvalid(`a sealed document of ${Buffer.byteLength(text)} bytes is over the limit`, {
      advice: "Put large content into artifacts.",
      details: { maxBytes: sealedLimitBytes },
    });
  }
  return text;
}

/** Accepts exactly the bytes that `seal` returns, not even with a newline at the end. */
export function unseal(text: string | Uint8Array, what: string): { content: JsonObject; sha256: string } {
  const document = parse(text, what);
  if (!isJsonObject(document)) throw corrupt(what, "not JSON");
  if (!isSameText(canonicalJson(document), text)) throw corrupt(what, "not canonical");
  const { sha256: found, ...content } = document;
  if (typeof found !== "string" || found !== sha256(canonicalJson(content)))
    throw corrupt(what, "seal does not match");
  return { content, sha256: found };
}

function parse(text: string | Uint8Array, what: string): Json {
  try {
    return parseJson(text, { what, maxBytes: sealedLimitBytes });
  } catch (cause) {
    const reason = InputInvalid.is(cause) ? cause.details.reason : undefined;
    throw corrupt(what, reason === "too large" || reason === "too deep" ? "too large" : "not JSON", cause);
  }
}

const isSameText = (canonical: string, given: string | Uint8Array): boolean =>
  typeof given === "string" ? canonical === given : Buffer.from(canonical).equals(given);

type Damage = "not JSON" | "not canonical" | "seal does not match" | "too large";

const corrupt = (what: string, why: Damage, cause?: unknown): CheckpointCorrupt =>
  new CheckpointCorrupt(`${what} is damaged: ${why}`, {
    advice: "Resume the session: damaged checkpoints are written again from the journal.",
    details: { what, why },
    cause,
  });
