/** Addresses that git may fetch from. Other schemes name programs (`ext::`) or open our files (`fd::`). */
const schemes = ["https", "http", "ssh", "git", "file"] as const;

/** `user@host:path` and `host:path`, as in ssh. A slash before the colon makes it a path. */
const scpLike = /^(?:[\w.+-]+@)?[\w.-]+:(?!:)[^\0\n\r]*$/;
/** `ext::` and similar. */
const withProgram = /^[A-Za-z0-9]*::/;
const withScheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;

/** Whether a text names a repository by address instead of a folder on this machine. */
export const isGitAddress = (text: string): boolean =>
  withScheme.test(text) || withProgram.test(text) || scpLike.test(text);

/** Why a repository must not be fetched from there; undefined if it may. */
export function addressProblem(text: string): string | undefined {
  if (text.startsWith("-")) return "begins with a dash, as options do";
  if (/[\0-\x20\x7f]/.test(text)) return "has spaces or control characters";
  const [, scheme] = withScheme.exec(text) ?? [];
  if (scheme === undefined) {
    if (withProgram.test(text)) return "names a program of git";
    return scpLike.test(text) ? undefined : "is not an address";
  }
  if (!schemes.some((known) => known === scheme.toLowerCase()))
    return `begins with ${scheme}://; ${schemes.map((known) => `${known}://`).join(", ")} and user@host:path are possible`;
  // `ssh://-oProxyCommand=...` would be an option of ssh.
  if (/^[^:]+:\/\/(?:[^/@]*@)?-/.test(text)) return "has a host that begins with a dash";
  return undefined;
}

const userPart = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)([^/]*)@/;

/** The secret in an address. In a web address, everything before the `@`, which may be just a token. */
export function secretIn(address: string): string | undefined {
  const [, scheme = "", user = ""] = userPart.exec(address) ?? [];
  if (user === "") return undefined;
  if (/^https?:/i.test(scheme)) return user;
  const colon = user.indexOf(":");
  return colon === -1 ? undefined : user.slice(colon + 1);
}

/** The address as it may be shown and recorded. */
export function withoutSecret(address: string): string {
  if (secretIn(address) === undefined) return address;
  return address.replace(userPart, (_, scheme: string, user: string) =>
    /^https?:/i.test(scheme) ? scheme : `${scheme}${user.slice(0, user.indexOf(":"))}@`,
  );
}
