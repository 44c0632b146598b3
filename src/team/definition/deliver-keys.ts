import { object, optional, section } from "./fields.ts";
import { text, yesOrNo } from "./kinds.ts";

export const deliverSection = section({
  name: "deliver",
  sentence: "How a completed session on a repository is delivered. Flags of `run` override it.",
  allowed: "an object with branch, push and pullRequest",
  keys: {
    branch: optional(text(1_000), {
      sentence: "The branch to make. `{key}` is the session's key, or its id without one; `{id}` is its id.",
      example: "maestro/{key}",
      otherwise: "none; `maestro/{key}` with `push` or `pullRequest`",
    }),
    push: optional(text(200), {
      sentence: "The name of a remote to push the branch to, with your own git credentials.",
      example: "origin",
      otherwise: "none; `origin` with `pullRequest`",
    }),
    pullRequest: optional(yesOrNo, {
      sentence: "Whether to open a pull request on GitHub. It needs `MAESTRO_GITHUB_TOKEN`.",
      example: true,
      otherwise: "`false`",
    }),
  },
});

export const deliverKey = optional(object(deliverSection), {
  sentence: "How a completed session on a repository is delivered.",
  example: { branch: "maestro/{key}", pullRequest: true },
  otherwise: "not at all",
});
