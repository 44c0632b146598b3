const isEncoded = (text: string): boolean => text.startsWith("\\");

/**
 * A step's name may hold a NUL, which PostgreSQL refuses, or half of a surrogate pair, which would come back changed
 * and break the chain. Such a name is stored as JSON after a backslash.
 */
export function encodeName(name: string | null): string | null {
  if (name === null) return null;
  const isPlain = name.isWellFormed() && !name.includes("\0") && !isEncoded(name);
  return isPlain ? name : `\\${JSON.stringify(name)}`;
}

export function decodeName(stored: string | null): string | null {
  return stored !== null && isEncoded(stored) ? (JSON.parse(stored.slice(1)) as string) : stored;
}
