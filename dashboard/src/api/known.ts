/** What is known of a value that may hold more: read-only all through, and without names that nobody has listed. */
export type Known<T> = T extends readonly (infer Item)[]
  ? readonly Known<Item>[]
  : T extends object
    ? { readonly [Name in keyof T as string extends Name ? never : Name]: Known<T[Name]> }
    : T;
