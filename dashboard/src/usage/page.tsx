import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { usageQuery } from "../api/queries.ts";
import type { UsageReport } from "../api/types.ts";
import { count, tokens } from "../format/count.ts";
import { money, simulatedText } from "../format/money.ts";
import { currentTick } from "../live/clock.ts";
import { stream } from "../live/connection.ts";
import { useTitle } from "../shell/title.ts";
import { Loaded } from "../ui/loading.tsx";
import { sessionAddress } from "../url/session-url.ts";
import { sinceTime } from "../url/sessions-url.ts";
import {
  formatUsageQuery,
  parseUsageQuery,
  type UsageQueryState,
  usageBys,
  usagePeriods,
} from "../url/usage-url.ts";
import { ChartKey } from "./chart-key.tsx";
import { Alerts, Budgets, Forecasts, Savings } from "./side-parts.tsx";
import { stackSeries } from "./stack.ts";

const UsageChart = lazy(() => import("./chart.tsx"));

const byNames = {
  persona: "Persona",
  phase: "Phase",
  model: "Model",
  session: "Session",
  day: "Day",
} as const;
const periodNames = { "1d": "1 day", "7d": "7 days", "30d": "30 days", any: "Ever" } as const;

export default function UsagePage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const state = useMemo(() => parseUsageQuery(search), [search]);
  const since = useMemo(() => sinceTime(state.since, currentTick()), [state.since]);
  const query = useQuery(usageQuery(state.by, since, state.session));
  useTitle("Usage");
  useEffect(() => stream.follow("/v1/events", undefined), []);
  const go = (part: Partial<UsageQueryState>) =>
    navigate(`/usage${formatUsageQuery({ ...state, ...part })}`, { replace: true });
  return (
    <main className="page scroll-page" id="content">
      <header className="usage-head">
        <h1>Usage</h1>
        {state.session === undefined ? null : (
          <span>
            of <b className="strong outside">{state.session}</b>{" "}
            <button type="button" className="link" onClick={() => go({ session: undefined })}>
              All sessions
            </button>
          </span>
        )}
        <span className="spring" />
        <Segments
          label="Group by"
          names={byNames}
          values={usageBys}
          value={state.by}
          onPick={(by) => go({ by })}
        />
        <Segments
          label="Unit"
          names={{ usd: "Dollars", tokens: "Tokens" }}
          values={["usd", "tokens"]}
          value={state.unit}
          onPick={(unit) => go({ unit })}
        />
        <Segments
          label="Since"
          names={periodNames}
          values={usagePeriods}
          value={state.since}
          onPick={(value) => go({ since: value })}
        />
      </header>
      <Loaded query={query} failed="Could not read the usage." rows={8}>
        {(report) => <Report report={report} state={state} />}
      </Loaded>
    </main>
  );
}

interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly names: Readonly<Record<Value, string>>;
  readonly values: readonly Value[];
  readonly value: Value;
  readonly onPick: (value: Value) => void;
}

function Segments<Value extends string>({ label, names, values, value, onPick }: SegmentsProps<Value>) {
  return (
    <div className="segments" role="group" aria-label={label}>
      {values.map((each) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onPick(each)}>
          {names[each]}
        </button>
      ))}
    </div>
  );
}

function Report({ report, state }: { readonly report: UsageReport; readonly state: UsageQueryState }) {
  const stack = useMemo(() => stackSeries(report, state.unit), [report, state.unit]);
  const { total } = report;
  const simulated = simulatedText(total.costUsd, total.simulatedUsd);
  const perhapsBilled = total.estimatedUsd - total.simulatedEstimatedUsd;
  return (
    <div className="usage">
      <div className="usage-main">
        <p className="usage-total">
          <b className="usage-sum">
            {state.unit === "usd" ? money(total.costUsd) : tokens(total.inputTokens + total.outputTokens)}
          </b>
          {simulated === undefined ? null : <span className="tag">{simulated}</span>}
          <span className="ink-2">
            {count(total.calls)} calls, {tokens(total.inputTokens)} in ({tokens(total.cachedInputTokens)}{" "}
            cached), {tokens(total.outputTokens)} out
            {perhapsBilled < 0.005 ? "" : `; not reported, perhaps billed: up to ${money(perhapsBilled)}`}
          </span>
        </p>
        {stack.times.length === 0 ? (
          <p className="ink-2">Nothing was spent in this time.</p>
        ) : (
          <>
            <Suspense fallback={<div className="usage-chart" />}>
              <UsageChart stack={stack} unit={state.unit} bucket={report.bucket} />
            </Suspense>
            {stack.layers.length < 2 ? null : <ChartKey names={stack.layers.map(({ name }) => name)} />}
          </>
        )}
        <UsageTable report={report} state={state} />
      </div>
      <div className="usage-side">
        <Budgets report={report} />
        <Savings report={report} />
        <Forecasts report={report} />
        <Alerts report={report} />
      </div>
    </div>
  );
}

function UsageTable({ report, state }: { readonly report: UsageReport; readonly state: UsageQueryState }) {
  return (
    <div className="table-scroll-x" role="region" aria-label="Table of usage" tabIndex={0}>
      <table className="plain-table usage-table">
        <thead>
          <tr>
            <th scope="col">{byNames[state.by]}</th>
            <th scope="col" className="end">
              Calls
            </th>
            <th scope="col" className="end">
              Input
            </th>
            <th scope="col" className="end">
              Cached
            </th>
            <th scope="col" className="end">
              Output
            </th>
            <th scope="col" className="end">
              Saved
            </th>
            <th scope="col" className="end">
              Spent
            </th>
          </tr>
        </thead>
        <tbody>
          {report.rows.map((row) => (
            <tr key={row.name}>
              <th scope="row" className="outside">
                {state.by === "session" ? <Link href={sessionAddress(row.name)}>{row.name}</Link> : row.name}
              </th>
              <td className="end">{count(row.calls)}</td>
              <td className="end">{tokens(row.inputTokens)}</td>
              <td className="end">{tokens(row.cachedInputTokens)}</td>
              <td className="end">{tokens(row.outputTokens)}</td>
              <td className="end">{money(row.savedUsd)}</td>
              <td className="end strong">
                <SimulatedTag usage={row} /> {money(row.costUsd)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SimulatedTag({ usage }: { readonly usage: UsageReport["total"] }) {
  const text = simulatedText(usage.costUsd, usage.simulatedUsd);
  return text === undefined ? null : (
    <span className="tag" title={text}>
      {usage.simulatedCalls === usage.calls ? "simulated" : `${money(usage.simulatedUsd)} simulated`}
    </span>
  );
}
