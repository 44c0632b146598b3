import { expect, onTestFinished, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { LoopbackModels } from "../../support/loopback-models.ts";
import { TeamPlace } from "./place.ts";

test("a tool that the provider refuses parks the session after one call, with the tool's name and advice", async () => {
  const server = await LoopbackModels.start();
  server.react = ({ body }) => {
    const index = (body["tools"] as readonly { readonly name: string }[]).findIndex(
      ({ name }) => name === "lookup",
    );
    const message = `tools.${index}.custom.input_schema: JSON schema is invalid.`;
    return { fault: "refuse", status: 400, code: "invalid_request_error", message };
  };
  onTestFinished(() => server.close());
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const lookup = {
    description: "Looks.",
    inputSchema: { type: "object", properties: { streets: { type: "array" } } },
    execute: () => "found",
  };
  const team = defineTeam("refused", {
    model: "anthropic/claude-sonnet-4-5",
    phases: [phase("work", { personas: [persona("dev", { instructions: "Look.", tools: { lookup } })] })],
  });
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "x", key: "k" });
  const result = await session.result();
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  const explained = JSON.stringify(await maestro.show(session.id));
  expect(explained).toContain("refuses the tool lookup");
  expect(explained).toContain("leave it out of the persona's tools");
  expect(server.requests).toHaveLength(1);
});
