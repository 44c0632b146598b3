/** Of two patterns nobody can say whether they overlap; a plain path is in one or not. */
export const isPattern = (file: string): boolean => /[*?[\]{}!@+()]/.test(file);
