/** Each find must be there exactly once: an edit that fits in two places fits in none. undefined when one does not. */
export function applyEdits(
  text: string,
  edits: readonly { readonly find: string; readonly replace: string }[],
): string | undefined {
  let edited = text;
  for (const { find, replace } of edits) {
    const at = edited.indexOf(find);
    if (find === "" || at === -1 || edited.indexOf(find, at + 1) !== -1) return undefined;
    edited = edited.slice(0, at) + replace + edited.slice(at + find.length);
  }
  return edited;
}
