import { Link } from "wouter";
import type { UsageReport } from "../api/types.ts";
import { tokens } from "../format/count.ts";
import { money, moneyRange } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import type { StatusIcon, Tone } from "../sentences/status-word.ts";
import { nameOf } from "../sessions/row.tsx";
import { StatusMark } from "../status/status.tsx";
import { SpendBar } from "../ui/spend-bar.tsx";
import { Moment } from "../ui/time.tsx";
import { addressOf } from "../url/session-url.ts";

interface Props {
  readonly report: UsageReport;
}

const savingNames = {
  resume: "Resume: recorded steps not paid again",
  reuse: "Reuse: unchanged personas of forks",
  cache: "Cache: input the provider kept",
  patches: "Patches: edits instead of whole files",
} as const;

export function Savings({ report: { savings, total } }: Props) {
  const most = Math.max(0.01, ...savings.map(({ usd }) => usd ?? 0));
  return (
    <section aria-label="Saved">
      <header className="part-head">
        <h2>Saved</h2>
        <span className="spring" />
        <b className="strong">{money(total.savedUsd)} not paid again</b>
      </header>
      <ul className="saving-list">
        {savings.map(({ by, usd, tokens: saved }) => (
          <li key={by}>
            <span>{savingNames[by]}</span>
            <span className="end">
              {money(usd)} <span className="ink-3">{tokens(saved)}</span>
            </span>
            <SpendBar used={Math.max(0, usd ?? 0)} limit={most} width={300} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The remaining budget, in the unit of its limit. */
export function Budgets({ report: { budgets } }: Props) {
  return (
    <section aria-label="Budgets">
      <h2>Budgets</h2>
      {budgets.length === 0 ? (
        <p className="ink-2">No limit is set for today or for a session under way.</p>
      ) : null}
      <ul className="saving-list">
        {budgets.map(({ level, id, key, limitUsd, usedUsd, limitTokens, usedTokens }) => {
          const byMoney = limitUsd !== null;
          const [used, limit] = byMoney ? [usedUsd ?? 0, limitUsd] : [usedTokens, limitTokens ?? 0];
          const show = byMoney ? money : tokens;
          return (
            <li key={id ?? level}>
              {id === null ? (
                <span>Today</span>
              ) : (
                <Link href={addressOf({ id, key })} className="one-line outside">
                  {nameOf({ id, key })}
                </Link>
              )}
              <span className="end">
                {show(used)} <span className="ink-3">of {show(limit)}</span>
              </span>
              <SpendBar used={used} limit={limit} width={300} full={used >= limit} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

export function Forecasts({ report: { forecasts } }: Props) {
  if (forecasts.length === 0) return null;
  return (
    <section aria-label="Forecast against actual">
      <h2>Forecast against actual</h2>
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col" className="end">
              Forecast
            </th>
            <th scope="col" className="end">
              Actual
            </th>
          </tr>
        </thead>
        <tbody>
          {forecasts.map(({ id, key, forecast, actualUsd, finished }) => {
            const over = finished && actualUsd !== null && actualUsd > forecast.highUsd;
            return (
              <tr key={id}>
                <td className="one-line">
                  <Link href={addressOf({ id, key })}>{nameOf({ id, key })}</Link>
                </td>
                <td className="end">{moneyRange(forecast)}</td>
                <td className="end">
                  <span className={over ? "tone-parked medium" : ""}>{money(actualUsd)}</span>
                  <span className="ink-3">{finished ? (over ? " over" : "") : " so far"}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

const alertIcons: Readonly<Record<UsageReport["alerts"][number]["kind"], readonly [StatusIcon, Tone]>> = {
  "budget-most": ["waits", "parked"],
  "budget-reached": ["parked", "parked"],
  forecast: ["pending", "quiet"],
};

export function Alerts({ report: { alerts } }: Props) {
  return (
    <section aria-label="Alerts">
      <h2>Alerts</h2>
      {alerts.length === 0 ? <p className="ink-2">No alerts.</p> : null}
      <ul className="alert-list">
        {alerts.map(({ at, kind, message, id, key }, index) => {
          const [icon, tone] = alertIcons[kind];
          return (
            <li key={index}>
              <StatusMark icon={icon} tone={tone} label={kind.replace("-", " ")} />
              <span className="outside">
                {id === null ? (
                  oneLine(message)
                ) : (
                  <Link href={addressOf({ id, key })}>{oneLine(message)}</Link>
                )}
              </span>
              <span className="ink-3 alert-time">
                <Moment at={at} />
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
