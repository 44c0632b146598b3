import { resolve } from "node:path";
import type { GlobalOptions } from "../open.ts";
import { print, printJson, printWrapped, say } from "../output.ts";
import { plain } from "../terminal/format.ts";

interface TrustOptions extends GlobalOptions {
  readonly revoke?: boolean;
}

export async function trust(place: string | undefined, options: TrustOptions): Promise<void> {
  const path = resolve(place ?? ".");
  return options.revoke ? revoke(path, options) : grant(path, options);
}

async function grant(path: string, { json }: TrustOptions): Promise<void> {
  const { trustPlace } = await import("../../config/trust-place.ts");
  const trusted = await trustPlace(path, process.env);
  if (json) return printJson({ path, trusted, revoked: [] });
  if (trusted.length === 0) return print(plain(`Nothing in ${path} needs trust.`));
  for (const { path: file, demands } of trusted) {
    print(plain(`Trusted: ${file}`));
    for (const demand of demands) printWrapped(plain(`  ${demand}`));
  }
  say("A file that changes is no longer trusted.");
}

async function revoke(path: string, { json }: TrustOptions): Promise<void> {
  const { revokeTrust } = await import("../../config/trust-store.ts");
  const revoked = await revokeTrust(path, process.env);
  if (json) return printJson({ path, trusted: [], revoked });
  if (revoked.length === 0) return print(plain(`Nothing in ${path} was trusted.`));
  for (const file of revoked) print(plain(`No longer trusted: ${file}`));
}
