import { describe, expect, it } from "vitest";
import { describeSandbox } from "../../src/workspace/sandbox.ts";
import { attackWithTeams, reachedWith } from "../campaign/hostile-teams.ts";

const sandbox = await describeSandbox();

describe.skipIf(sandbox.kind === "none")("a team of a stranger (needs bubblewrap)", () => {
  it("reaches no file, variable, port, repository or remote without trust, whatever it asks for", async () => {
    expect(await attackWithTeams(1, 16)).toBe(16);
  });

  it("reaches each of them with trust, and the trial sees it; the state directory stays closed", async () => {
    const asked = [
      "state in an argument",
      "folders of a server",
      "variables of a shell",
      "the network of a setup",
      "a file that looks like a secret",
      "a push",
    ];
    expect(await reachedWith(asked)).toEqual([
      "file",
      "package",
      "program",
      "repository",
      "hidden",
      "variable",
      "port",
      "remote",
    ]);
  });
});
