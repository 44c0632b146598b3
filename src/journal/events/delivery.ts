import { type Delivered, delivered } from "../delivered.ts";
import { always, event, shorten } from "./define.ts";

/** The session was delivered, at its end or by a person's command. */
export const deliveredEvent = event({
  row: delivered,
  reduce: (state, entry) => ({ ...state, delivery: afterDelivery(state.delivery, entry) }),
  fact: ({
    branch = null,
    commits = [],
    remote = null,
    pullRequest,
    patch = null,
    applied,
    failures = [],
  }) => ({
    branch,
    commits: commits.length,
    remote,
    pullRequest: pullRequest !== undefined,
    patch,
    applied: applied !== undefined,
    failed: failures.map(({ part, message }) => ({ part, message: shorten(message) })),
  }),
  logged: ({ failed }) =>
    failed.length === 0 ? "delivered" : `not delivered: ${failed.map(({ part }) => part).join(", ")}`,
  sentence: (fact) => deliveryText(fact),
  mark: ({ failed }) => (failed.length > 0 ? "bad" : "good"),
  isFailure: ({ failed }) => failed.length > 0,
  isTransition: true,
  isQuiet: always,
});

/** A later delivery adds to an earlier one. Failures are those of the last. */
function afterDelivery(
  before: Delivered | undefined,
  entry: Delivered & { readonly kind: string },
): Delivered {
  const { kind: _, ...now } = entry;
  const { failures: _failures, ...kept } = before ?? {};
  return { ...kept, ...now };
}

function deliveryText({
  branch,
  remote,
  pullRequest,
  patch,
  applied,
  failed,
}: {
  readonly branch: string | null;
  readonly remote: string | null;
  readonly pullRequest: boolean;
  readonly patch: string | null;
  readonly applied: boolean;
  readonly failed: readonly { readonly part: string; readonly message: string }[];
}): string {
  const done = [
    ...(branch === null ? [] : [`as branch ${branch}`]),
    ...(remote === null ? [] : [`to remote ${remote}`]),
    ...(pullRequest ? ["with a pull request"] : []),
    ...(patch === null ? [] : [`as patch ${patch}`]),
    ...(applied ? ["into the files of its repository"] : []),
  ];
  const failures = failed.map(({ part, message }) => `${part} not delivered: ${message}`);
  return [...(done.length === 0 ? [] : [`delivered ${done.join(", ")}`]), ...failures].join("; ");
}
