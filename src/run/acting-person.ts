import { AsyncLocalStorage } from "node:async_hooks";

const people = new AsyncLocalStorage<string>();

/** Sessions that `act` starts, resumes or sends a signal to record this name. */
export function actAs<T>(person: string, act: () => Promise<T>): Promise<T> {
  return people.run(person, act);
}

/** The person whose act this is, if known. Only acts read it: a drive may have begun within the act of a person. */
export const actingPerson = (): string | undefined => people.getStore();

/** The acting person as a field of a row. */
export function byPerson(): { readonly person?: string } {
  const person = actingPerson();
  return person === undefined ? {} : { person };
}
