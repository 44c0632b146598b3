import { dirname, isAbsolute, join } from "node:path";
import type { ConfigOverrides } from "../config/config.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { BudgetGuard } from "../cost/budget.ts";
import { PriceFile } from "../cost/price-file.ts";
import { Prices } from "../cost/prices.ts";
import { TokenTracker } from "../cost/token-tracker.ts";
import { type CommandFor, type Notify, shellCommand } from "../domain/advice.ts";
import { breakerPolicy } from "../domain/breaker.ts";
import { type Clock, systemClock } from "../domain/clock.ts";
import { newId } from "../domain/ids.ts";
import { isoTime } from "../domain/iso-time.ts";
import { keepSecret, secretsIn } from "../domain/redact.ts";
import type { SessionEvent } from "../journal/public-fact.ts";
import { finalStatuses } from "../journal/standing.ts";
import type { OwnProvider } from "../personas/model/model-sources.ts";
import { publishedNames } from "../personas/model/provider-table.ts";
import { CircuitBreaker } from "../run/circuit-breaker.ts";
import { TeamEngine } from "../run/engine.ts";
import { withBuiltIn } from "../run/healing/built-in.ts";
import type { Healer } from "../run/healing/healer.ts";
import { performOf } from "../run/perform.ts";
import { askModel } from "../run/planning/ask-model.ts";
import { CommandPlace } from "../run/programs/command-place.ts";
import { SandboxChecks } from "../run/programs/sandbox-checks.ts";
import { budgetDefaults } from "../run/spending.ts";
import { Artifacts } from "../store/artifacts.ts";
import { LostSessions } from "../store/lost-sessions.ts";
import { openStore } from "../store/open-store.ts";
import { Projector } from "../store/projector.ts";
import { resolveStateDirectory } from "../store/state-directory.ts";
import type { Team } from "../team/define.ts";
import { objectsByName } from "../team/model-objects.ts";
import { chooseSink, outcomeOfTicket, pullRequestSink } from "../tickets/choose-sink.ts";
import { FileSink } from "../tickets/file.ts";
import { TicketOutbox } from "../tickets/outbox.ts";
import { LayerStore } from "../workspace/layers/layer-store.ts";
import { sandboxUser } from "../workspace/sandbox-user.ts";
import { checkProviders, checkTeams } from "./check-options.ts";
import { proveModels } from "./machine.ts";
import { Maestro } from "./maestro.ts";
import { alertPoster, SessionEvents } from "./row-listeners.ts";

export { Maestro } from "./maestro.ts";
export type {
  ApproveOptions,
  BudgetOptions,
  ForkOptions,
  GivenOptions,
  PlanOptions,
  RejectOptions,
  ResumeOptions,
  Session,
  StartOptions,
} from "./options.ts";

export interface OpenOptions extends ConfigOverrides {
  /** Teams whose personas are code. Registering them here lets their sessions be resumed by id. */
  readonly teams?: readonly Team[];
  /** Also resume sessions after a crash, now and periodically. */
  readonly recover?: boolean;
  /** A configuration that is already loaded. */
  readonly loaded?: LoadedConfig;
  readonly clock?: Clock;
  /** Providers of models by name: a persona with the model `acme/large` gets `providers.acme("large")`. */
  readonly providers?: Readonly<Record<string, OwnProvider>>;
  /** Healers to ask before the built-in ones, in this order, for failures of their categories. */
  readonly healers?: readonly Healer[];
  /** A file with the script of the simulated model. */
  readonly script?: string;
  /** Used for every model persona that this process runs, even if its session has another model. */
  readonly modelInstead?: string;
  /** Things a person should know that stop nothing: repaired files, a fallback directory, lost sessions. */
  readonly onNotice?: Notify;
  /** How a shell starts Maestro here, for commands in tickets: "maestro", "npx maestro-hive". */
  readonly program?: string;
  readonly onEvent?: (event: SessionEvent) => void;
}

/** Opens a state directory: the one place that wires concrete parts together. */
export async function open(options: OpenOptions = {}): Promise<Maestro> {
  const {
    teams = [],
    recover = false,
    loaded,
    clock = systemClock,
    healers: ownHealers = [],
    onNotice = () => {},
    program = "maestro",
    onEvent,
    script,
    modelInstead,
    providers: own = {},
    ...overrides
  } = options;
  checkTeams(teams);
  checkProviders(own);
  const healers = withBuiltIn(ownHealers);
  const { config, leftOut } = loaded ?? (await loadConfig({ overrides }));
  const { path, notice } = await resolveStateDirectory({ explicit: config.stateDir, env: process.env });
  for (const text of [leftOut, notice]) if (text !== undefined) onNotice(text);
  const { jira, github, webhook } = config;
  // Runs before any error message could contain a secret.
  keepSecret([...secretsIn(process.env), jira.apiToken, github.token, webhook.secret, webhook.url]);
  // Rejects settings before anything is opened that would need closing.
  const sink = await chooseSink(
    {
      jira: {
        baseUrl: jira.baseUrl,
        email: jira.email,
        apiToken: jira.apiToken,
        projectKey: jira.projectKey,
        allowInternal: jira.allowInternal,
      },
      github: {
        repository: github.repository,
        token: github.token,
        apiUrl: github.apiUrl,
        allowInternal: github.allowInternal,
      },
      webhook: { url: webhook.url, secret: webhook.secret, allowInternal: webhook.allowInternal },
    },
    path,
    onNotice,
  );
  const store = openStore({ directory: path, clock, leaseMs: config.leaseMs });
  const artifacts = new Artifacts(path);
  const scratch = join(path, "scratch");
  const { sandbox, commands: limits } = config;
  const launch = { sandbox, limits, user: () => sandboxUser(path) };
  const layers = new LayerStore(path);
  const place = new CommandPlace(artifacts, path, launch);
  void place.sweep(async (id) => {
    const status = (await store.findSession(id))?.status;
    return status === undefined || finalStatuses.includes(status);
  });
  void layers.sweep().catch(() => undefined);
  const prices = new Prices(config.prices, {
    clock,
    file: new PriceFile(path, (error) => onNotice(String(error))),
    names: publishedNames,
  });
  const priceOf = (model: string) => prices.of(model);
  const sources = {
    env: process.env,
    own,
    servers: config.servers,
    folders: packageFolders(config.providersFrom),
  };
  const projector = new Projector((problem) => onNotice(String(problem)));
  // A printed command names the state directory unless it is the default one.
  const stateDir = config.stateDir === undefined ? undefined : path;
  const commandFor: CommandFor = (...args) =>
    shellCommand(["maestro", ...args], { start: program, stateDir });
  const breaker = new CircuitBreaker({
    breakers: store.breakers,
    policy: { ...breakerPolicy, threshold: config.breaker.threshold, cooldownMs: config.breaker.cooldownMs },
    clock,
    onHopeless: async (dependency, record) => {
      const { ticketForDependency } = await import("../run/help.ts");
      const parked = await store.reports.list({ statuses: ["parked"], order: "created", limit: 1_000 });
      const waiting = parked.filter(({ reason }) => reason === "breaker").map(({ id }) => id);
      await store.tickets.raise(
        ticketForDependency(dependency, record, { now: clock.now(), waiting, commandFor }),
      );
    },
  });
  const ticketFiles = new FileSink(path);
  const githubPlace = {
    apiUrl: github.apiUrl,
    repository: github.repository,
    hasToken: github.token !== undefined,
  };
  const outbox = new TicketOutbox({
    queue: store.tickets,
    sink,
    pullRequestSink: pullRequestSink(github),
    shelf: ticketFiles,
    guard: (dependency, call) => breaker.guard(dependency, call, outcomeOfTicket),
    clock,
    owner: newId(),
    report: ({ ticket, sink, delivery, error }) => {
      const what = ticket.pullRequest === undefined ? `Ticket ${ticket.id}` : "The pull request";
      if (delivery.kind === "delivered" && ticket.pullRequest !== undefined)
        onNotice(`Pull request ${delivery.reference.url}: ${ticket.summary}`);
      else if (delivery.kind === "delivered")
        onNotice(`Ticket ${delivery.reference.key} (${sink}): ${ticket.summary}`);
      else {
        const why = delivery.lastError ?? String(error);
        onNotice(`${what} could not be delivered to ${sink} yet: ${why}`);
      }
    },
  });
  const tellAlert = alertPoster(config.webhook, onNotice);
  const tracker = new TokenTracker(store.reports);
  const budgets = budgetDefaults(config.budget);
  // Without a listener no row is parsed for events.
  const events = onEvent && new SessionEvents(onEvent);
  const engine = new TeamEngine({
    store,
    artifacts,
    projector,
    stateDirectory: path,
    clock,
    breaker,
    accounts: {
      guard: new BudgetGuard(store, clock),
      tracker,
      clock,
      defaults: budgets,
      rates: config.limits.providers,
      history: (team) => store.reports.history(team),
    },
    checks: new SandboxChecks(artifacts, scratch, path, { launch, notice: onNotice, env: process.env }),
    place,
    layers,
    setupPlace: { blobs: artifacts, stateDirectory: path, launch, env: process.env },
    healers,
    performOf: (team, model) =>
      performOf(
        team,
        modelInstead ?? model,
        { ...sources, script: script ?? config.simulatedScript, priceOf },
        place,
      ),
    proveModels: (team, model) =>
      proveModels(team, {
        ...sources,
        script: script ?? config.simulatedScript,
        model: modelInstead ?? model,
      }),
    askModel: ({ model: object }, model, call) =>
      askModel(modelInstead ?? model, call, { ...sources, objects: objectsByName([object]), priceOf }),
    commandFor,
    github: githubPlace,
    sandbox,
    timeoutMs: config.attempts.timeoutMs,
    policies: {
      attempts: {
        maxAttempts: config.attempts.max,
        baseDelayMs: config.attempts.baseDelayMs,
        maxDelayMs: config.attempts.maxDelayMs,
      },
      rounds: {
        maxAttempts: config.rounds.max,
        baseDelayMs: config.rounds.baseDelayMs,
        maxDelayMs: config.rounds.maxDelayMs,
      },
    },
    report: onNotice,
    onRows: events && ((state, rows) => events.tell(state, rows)),
    onAlert: (id, row) => void engine.track(tellAlert(id, row)),
    onLog: (sessionId, persona, message) => onEvent?.({ kind: "log", sessionId, persona, message }),
    onText: (sessionId, persona, delta) => onEvent?.({ kind: "text", sessionId, persona, delta }),
    onStep:
      onEvent &&
      ((sessionId, persona, step, name) =>
        onEvent({ kind: "step.began", sessionId, persona, step, name, at: isoTime(clock.now()) })),
  });
  const maestro = new Maestro({
    store,
    github: githubPlace,
    artifacts,
    projector,
    engine,
    outbox,
    ticketFiles,
    lost: new LostSessions(path, store, artifacts, onNotice, { remembers: true }),
    stateDirectory: path,
    clock,
    model: config.model,
    tracker,
    budgets,
    teams,
    limits: config.limits,
    onNotice,
    sandbox,
    layers,
  });
  if (recover) await maestro.recover();
  return maestro;
}

/** The program that called `open` is already running, so packages beside it are as trusted as it is. */
function packageFolders(configured: string | undefined): readonly string[] {
  const [, script] = process.argv;
  // With -e or -p there is no script, and argv[1] may be any argument of the program.
  const isScript = !process.execArgv.some((flag) => /^(?:-[a-z]*[ep]|--eval|--print)\b/.test(flag));
  const beside = isScript && script !== undefined && isAbsolute(script) ? [dirname(script)] : [];
  return configured === undefined ? beside : [configured, ...beside];
}
