/** How a completed session is delivered. */
export interface DeliveryOrder {
  /** A branch of its repository. `{key}` stands for the session's key, or its id without one; `{id}` for its id. */
  readonly branch?: string;
  /** Bring the changes into the checked-out files of the repository. */
  readonly apply?: boolean;
  /** A file for the changes as a patch. */
  readonly patch?: string;
  /** The name of a remote to push the branch to. */
  readonly push?: string;
  /** Open a pull request on GitHub for the branch, which is pushed to `origin` unless `push` names another remote. */
  readonly pullRequest?: boolean;
}

/** A part of an order that was not done. */
export interface DeliveryFailure {
  readonly part: "branch" | "push" | "pullRequest" | "patch" | "apply";
  readonly message: string;
  /** The arguments of `maestro` that do it again. */
  readonly command: readonly string[];
}

const defaultBranch = "maestro/{key}";
const defaultRemote = "origin";

/** The order with the parts that others need. Undefined when there is nothing to do. */
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

/** The GitHub that pull requests are made on, as it is configured. */
export interface GithubPlace {
  /** Missing: github.com. */
  readonly apiUrl: string | undefined;
  /** "owner/name", for remotes that are not on that host. */
  readonly repository: string | undefined;
  readonly hasToken: boolean;
}
