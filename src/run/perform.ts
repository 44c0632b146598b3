import { BudgetExceeded, ConfigInvalid, TeamInvalid } from "../domain/errors.ts";
import { keepSecret } from "../domain/redact.ts";
import type { TokenUsage } from "../domain/usage.ts";
import { agentNamed } from "../personas/command/agent.ts";
import { defaultCommandTimeoutMs } from "../personas/command/command-ports.ts";
import { asReturn, conversationWork } from "../personas/conversation.ts";
import type { FunctionContext, Perform, WorkContext } from "../personas/function.ts";
import type { NamedServer } from "../personas/mcp/mcp-tools.ts";
import type { Environment } from "../personas/model/model-sources.ts";
import { type ModelAccess, performWithModel } from "../personas/model/perform.ts";
import type { FetchUrl, RunProgram } from "../personas/model/ports.ts";
import type { ContextTools } from "../personas/tools/context-tool.ts";
import { contextTools } from "../personas/tools/context-tools.ts";
import { ownToolsOf, serverPatterns } from "../personas/tools/offered-tools.ts";
import type { Persona, Team } from "../team/define.ts";
import type { McpDefinition } from "../team/definition/mcp-keys.ts";
import type { PersonaDefinition } from "../team/definition/team-definition.ts";
import { defaultShell } from "../team/definition/tool-keys.ts";
import { modelObjects } from "../team/model-objects.ts";
import type { PerformOf } from "./drive.ts";
import type { CommandPlace } from "./programs/command-place.ts";
import { passedThrough, Shell } from "./programs/shell.ts";
import { toBudget } from "./spending.ts";

/** How a persona works: by its function, a model or a command. */
export function performOf(
  team: Team,
  model: string | undefined,
  access: ModelAccess,
  place: CommandPlace,
): PerformOf {
  return (phase, persona) => {
    const { name, work, policy, timeoutMs, tools, approve = [], shell = defaultShell, web } = persona;
    const { mcp: ownServers } = persona;
    const written = writtenPersona(team, phase.name, name);
    const webHosts = (web ?? team.definition.web)?.allow ?? [];
    const ownTools = ownToolsOf(written?.tools);
    const sources = { tools, ownTools, shellEffect: shell.effect, approve, webHosts };
    const fetchUrl: FetchUrl | undefined = webHosts.length === 0 ? undefined : fetchFrom(webHosts);
    const withShell = async <T>(
      context: WorkContext,
      work: (run: RunProgram) => Promise<T> | T,
    ): Promise<T> => {
      const running = new Shell(context, place, shell, access.env, policy);
      try {
        return await work(running.run);
      } finally {
        await running.close();
      }
    };
    switch (work.kind) {
      case "function": {
        const { run } = written ?? {};
        if (run === undefined) throw missingFunction(phase.name, name);
        const { priceOf } = access;
        return (context) =>
          withShell(context, (runProgram) => {
            let made: ContextTools | undefined;
            const own: FunctionContext = {
              ...context,
              priceOf,
              keepSecret,
              // Made at first use: most functions call none.
              get tools() {
                made ??= contextTools(context, sources, policy, { runProgram, fetchUrl });
                return made;
              },
            };
            return run(own);
          });
      }
      case "model": {
        const {
          instructions,
          maxSteps,
          maxTimeMs = null,
          maxOutputTokens,
          temperature,
          reasoning = null,
          contextWindow = null,
          images = null,
        } = work;
        const chosen = work.model ?? model;
        const perform = performWithModel(
          {
            ...sources,
            fetchUrl,
            instructions,
            model: chosen,
            maxSteps,
            maxTimeMs,
            maxOutputTokens,
            temperature,
            reasoning,
            contextWindow,
            images,
            policy,
          },
          { ...access, objects: modelObjects(team, phase.name, name) },
        );
        const mcp = { ...team.definition.mcp, ...ownServers };
        return (context) =>
          withShell(context, (runProgram) =>
            withServers(mcp, tools, access.env, place, (servers) => perform(context, runProgram, servers)),
          );
      }
      case "command":
        return performWithCommand(work, timeoutMs ?? defaultCommandTimeoutMs, access, place);
    }
  };
}

const fetchFrom =
  (allow: readonly string[]): FetchUrl =>
  async (url, signal) => {
    const { fetchPage } = await import("./programs/web.ts");
    return fetchPage(url, { allow }, signal);
  };

/** The servers whose tools a persona has, until its attempt ends. Each is started at its first use. */
async function withServers<T>(
  mcp: McpDefinition,
  tools: PersonaDefinition["tools"],
  env: Environment,
  place: CommandPlace,
  work: (servers: readonly NamedServer[]) => Promise<T>,
): Promise<T> {
  const used = new Set(serverPatterns(tools).map((pattern) => pattern.split("/", 1)[0] ?? ""));
  if (used.size === 0) return work([]);
  const [{ McpServer }, { connectMcp }] = await Promise.all([
    import("../personas/mcp/mcp-server.ts"),
    import("./programs/mcp-connections.ts"),
  ]);
  const servers = Object.entries(mcp)
    .filter(([name]) => used.has(name))
    .map(([name, definition]) => ({
      name,
      server: new McpServer(name, () => connectMcp(name, definition, env, place), definition.timeoutMs),
      repeatable: definition.repeatable ?? [],
    }));
  try {
    return await work(servers);
  } finally {
    await Promise.all(servers.map(({ server }) => server.close()));
  }
}

const writtenPersona = (team: Team, phase: string, persona: string): Persona | undefined =>
  team.phases.find(({ name }) => name === phase)?.personas.find(({ name }) => name === persona);

const missingFunction = (phase: string, persona: string): TeamInvalid =>
  new TeamInvalid(`The function of persona ${persona} in phase ${phase} is missing.`, {
    advice: "Pass the team with its functions to open({ teams: [...] }), or its file with --team.",
  });

type CommandWork = Extract<PersonaDefinition["work"], { readonly kind: "command" }>;

/** The program as the team wrote it; for an agent that it names, the command line that suits this machine. */
async function launchOf(
  { argv, agent, env: names, reserve }: CommandWork,
  persona: string,
  env: Environment,
  place: CommandPlace,
) {
  const variables = passedThrough(names, env);
  const { knownAgents } = await import("../personas/command/known-agents.ts");
  if (agent === undefined) {
    const known = agentNamed(argv);
    const why = known && place.isConfined ? knownAgents[known].cannotRun?.(argv) : undefined;
    if (why === undefined) return { argv, written: { argv }, variables, home: {} };
    throw new ConfigInvalid(`The command of persona ${persona} was not started: ${why}.`, {
      details: { persona, command: argv.join(" ") },
      advice: `Name the agent instead (agent: ${known}), or leave its sandbox out: docs/agents.md has a command line.`,
    });
  }
  const launch = knownAgents[agent.name].launch({
    ...agent,
    persona,
    isConfined: place.isConfined,
    reserve: toBudget(reserve),
    env: variables,
  });
  return {
    argv: launch.argv,
    written: { agent: { ...agent } },
    variables: { ...launch.env, ...variables },
    home: launch.home ?? {},
  };
}

/**
 * The work of a persona that is an agent's command line, on a copy of the files; its changes are applied as a whole. After
 * a crash an agent that supports it resumes its own session in the same folder; any other command runs again from the
 * files it began with.
 */
function performWithCommand(
  work: CommandWork,
  timeoutMs: number,
  { env, priceOf }: Pick<ModelAccess, "env" | "priceOf">,
  place: CommandPlace,
): Perform {
  return async (context) => {
    const [{ runCommandPersona }, { bookLostRuns }] = await Promise.all([
      import("../personas/command/command-persona.ts"),
      import("../personas/command/book-lost.ts"),
    ]);
    const guidance = await context.guide.guidance();
    const { network, readable = [], writable = [] } = work;
    const { argv, written, variables, home } = await launchOf(work, context.persona, env, place);
    const { conversation, signal } = context;
    const layers = (await context.layers?.()) ?? [];
    const { folders } = context.guide;
    const kept = place.kept(context.context.sessionId, conversation.started, { skills: folders, home });
    const keeps = async (error: unknown): Promise<boolean> =>
      signal.aborted ||
      BudgetExceeded.is(error) ||
      (await import("./failure/classify-error.ts")).classifyError(error).outage;
    const priced = {
      argv,
      priceOf: async (model: string, usage: TokenUsage) => (await priceOf(model))?.cost(usage) ?? null,
    };
    // Before the next run reserves money: an estimate may take more of a budget than the run did.
    const booked = await bookLostRuns(priced, await kept.noted(context.files.hash), context.lostCalls);
    if (booked !== undefined)
      context.log(
        `${argv[0]} used ${booked} tokens before it was killed, by its transcript; a request under way may be billed besides`,
      );
    const {
      usage: _,
      cliSession,
      refused,
      ...returned
    } = await runCommandPersona(
      conversationWork(work.instructions ?? "", context, guidance, await context.attached()),
      {
        ...priced,
        written,
        skills: context.guide.skillsHash,
        runStep: context.runStep,
        files: context.files,
        place: {
          inFolder: async (run) => {
            const ended = await kept.inFolder(context.files, run, keeps);
            // Inside the step, so that its record keeps the blobs alive.
            context.files.reapply(ended.changes);
            return ended;
          },
        },
        // Its own limit ends it: an agent may be silent until it is done.
        runCommand: (command) =>
          context.during(() =>
            place.run({
              ...command,
              layers,
              network,
              readable,
              writablePlaces: writable,
              writable: work.agent?.permissions === "read" ? "nothing" : "workspace",
            }),
          ),
        signal,
        env: variables,
        onText: context.onText,
        reserve: toBudget(work.reserve),
        persona: context.persona,
        sessionId: context.context.sessionId,
        timeoutMs,
      },
    );
    await kept.forget();
    for (const { path, reason } of refused) context.log(`not taken over: ${path}: ${reason}`);
    if (cliSession !== null) context.log(`${argv[0]} session ${cliSession}`);
    return asReturn(returned);
  };
}
