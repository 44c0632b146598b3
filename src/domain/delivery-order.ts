/** How a completed session is delivered. */
export interface DeliveryOrder {
  /** A branch of its repository. `{key}` is the session's key, or its id without one; `{id}` is its id. */
  readonly branch?: string;
  /** Apply the changes to the checked-out files of the repository. */
  readonly apply?: boolean;
  /** Write the changes to this file as a patch. */
  readonly patch?: string;
  /** Push the branch to this remote. */
  readonly push?: string;
  /**
   * Open a pull request on GitHub for the branch. The branch is pushed to `origin` unless `push` names another
   * remote.
   */
  readonly pullRequest?: boolean;
}

/** A part of an order that failed. */
export interface DeliveryFailure {
  readonly part: "branch" | "push" | "pullRequest" | "patch" | "apply";
  readonly message: string;
  /** The arguments of `maestro` that retry it. */
  readonly command: readonly string[];
}

const defaultBranch = "maestro/{key}";
const defaultRemote = "origin";

/** Adds the parts that others need. Undefined if there is nothing to do. */
export function completeOrder(order: DeliveryOrder): DeliveryOrder | undefined {
  const { branch, apply = false, patch, push, pullRequest = false } = order;
  const remote = push ?? (pullRequest ? defaultRemote : undefined);
  const name = branch ?? (remote === undefined ? undefined : defaultBranch);
  if (name === undefined && !apply && patch === undefined) return undefined;
  return {
    ...(name !== undefined && { branch: name }),
    ...(apply && { apply }),
    ...(patch !== undefined && { patch }),
    ...(remote !== undefined && { push: remote }),
    ...(pullRequest && { pullRequest }),
  };
}

export const isSameOrder = (one: DeliveryOrder | undefined, other: DeliveryOrder): boolean =>
  JSON.stringify(completeOrder(one ?? {})) === JSON.stringify(completeOrder(other));

export const branchNameOf = (
  template: string,
  { id, key = id }: { readonly id: string; readonly key?: string | undefined },
): string => template.replaceAll("{key}", () => key).replaceAll("{id}", () => id);

/** The configured GitHub for pull requests. */
export interface GithubPlace {
  /** Missing: github.com. */
  readonly apiUrl: string | undefined;
  /** "owner/name", for remotes on another host. */
  readonly repository: string | undefined;
  readonly hasToken: boolean;
}
