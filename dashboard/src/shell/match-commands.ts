/** Words may come in any order; the beginning of a name counts most. */
export function matchCommands<Item extends { readonly name: string }>(
  items: readonly Item[],
  text: string,
): readonly Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  const matching = items.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const rank = ({ name }: Item) => (name.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1);
  return [...matching].sort((a, b) => rank(a) - rank(b));
}
