/** Reports are read without trust: a field of another shape counts as absent. */
export const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

const maxTextLength = 20_000;

export const textOf = (value: unknown, key: string): string => {
  const field = fieldOf(value, key);
  return typeof field === "string" ? field.slice(0, maxTextLength) : "";
};

export const listOf = (value: unknown, key: string): readonly unknown[] => {
  const field = fieldOf(value, key);
  return Array.isArray(field) ? field : [];
};
