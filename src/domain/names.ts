const form = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Names of teams, phases and personas become file names and keys. */
export const isName = (text: string): boolean => form.test(text);

export const nameRule =
  "A name starts with a letter and has at most 64 letters, digits, hyphens and underscores.";
