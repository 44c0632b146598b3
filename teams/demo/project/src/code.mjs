import { createHash } from "node:crypto";

export function codeOf(url) {
  if (!/^https?:\/\//.test(url)) throw new TypeError("only http and https URLs can be shortened");
  return createHash("sha256").update(url).digest("base64url").slice(0, 7);
}
