import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "wouter";
import { breakersQuery, statusQuery, ticketsQuery } from "../api/queries.ts";
import type { BreakerView, ServerStatus, TicketRow } from "../api/types.ts";
import { bytes, counted } from "../format/count.ts";
import { oneLine } from "../format/plain-text.ts";
import { soon } from "../format/time.ts";
import { useNow } from "../live/clock.ts";
import { stream } from "../live/connection.ts";
import { breakerWord, type StatusWord } from "../sentences/status-word.ts";
import { nameOf } from "../sessions/row.tsx";
import { useStale } from "../shell/connection-view.tsx";
import { useTitle } from "../shell/title.ts";
import { Status } from "../status/status.tsx";
import { Loaded } from "../ui/loading.tsx";
import { SpendBar } from "../ui/spend-bar.tsx";
import { Age, Moment } from "../ui/time.tsx";
import { addressOf } from "../url/session-url.ts";
import { BreakerCard } from "./breaker-card.tsx";

export default function HealthPage() {
  const breakers = useQuery(breakersQuery);
  const tickets = useQuery(ticketsQuery);
  const status = useQuery(statusQuery);
  const stale = useStale();
  useTitle("Health");
  useEffect(() => stream.follow("/v1/events", undefined), []);
  return (
    <main className={`page scroll-page ${stale ? "stale" : ""}`} id="content">
      <h1 className="unseen">Health</h1>
      <div className="health">
        <section className="health-breakers" aria-label="Breakers">
          <h2>Breakers</h2>
          <Loaded query={breakers} failed="Could not read the breakers." rows={3}>
            {(data) => <Breakers breakers={data.breakers} />}
          </Loaded>
        </section>
        <section className="health-tickets" aria-label="Tickets">
          <h2>Tickets</h2>
          <Loaded query={tickets} failed="Could not read the tickets." rows={3}>
            {(data) => <Tickets tickets={data.tickets} />}
          </Loaded>
        </section>
        <section className="health-server" aria-label="Server">
          <h2>Server</h2>
          <Loaded query={status} failed="Could not read the server's status." rows={3}>
            {(data) => <Server status={data} />}
          </Loaded>
        </section>
      </div>
    </main>
  );
}

function Breakers({ breakers }: { readonly breakers: readonly BreakerView[] }) {
  const tripped = breakers.filter(({ state }) => state !== "closed");
  const closed = breakers.filter(({ state }) => state === "closed");
  if (breakers.length === 0)
    return <p className="ink-2">No dependency fails. One that does gets a breaker here.</p>;
  return (
    <>
      {tripped.map((breaker) => (
        <BreakerCard key={breaker.name} breaker={breaker} />
      ))}
      {closed.length === 0 ? null : (
        <ul className="closed-breakers">
          {closed.map(({ name, state, failures, threshold, notBefore }) => (
            <li key={name}>
              <span className="medium">{name}</span> <Status status={breakerWord(state)} />
              <span className="ink-3">
                {failures === 0 ? "" : `${failures} of ${threshold} outages in a row`}
                {notBefore === null ? "" : " rate limited"}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function ticketWord({ status, failures }: TicketRow): StatusWord {
  if (status === "delivered")
    return { icon: "completed", word: "Delivered", tone: "completed", iconOnly: true };
  if (status === "posting") return { icon: "running", word: "Delivering", tone: "running" };
  return failures === 0
    ? { icon: "queued", word: "To be delivered", tone: "quiet" }
    : { icon: "retries", word: "Retrying", tone: "parked" };
}

function Tickets({ tickets }: { readonly tickets: readonly TicketRow[] }) {
  const now = useNow();
  if (tickets.length === 0) return <p className="ink-2">No tickets.</p>;
  return (
    <div className="table-scroll-x" role="region" aria-label="Table of tickets" tabIndex={0}>
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Delivery</th>
            <th scope="col">Ticket</th>
            <th scope="col">Summary</th>
            <th scope="col">Session</th>
            <th scope="col" className="end">
              Raised
            </th>
          </tr>
        </thead>
        <tbody>
          {tickets.map((ticket) => (
            <tr key={ticket.id}>
              <td>
                <Status status={ticketWord(ticket)} />
                {ticket.status === "pending" && ticket.notBefore !== null && ticket.failures > 0 ? (
                  <span className="ink-3">
                    {" "}
                    {soon(Date.parse(ticket.notBefore) - now)}, {counted(ticket.failures, "failure")}
                    {ticket.lastError === null ? null : `: ${ticket.lastError}`}
                  </span>
                ) : null}
              </td>
              <td>
                {ticket.url === null || !/^https?:\/\//.test(ticket.url) ? (
                  <span className="mono ink-3">{ticket.key ?? ticket.fingerprint.slice(0, 16)}</span>
                ) : (
                  <a href={ticket.url} rel="noreferrer noopener" target="_blank">
                    {ticket.key}
                  </a>
                )}
              </td>
              <td className="outside wide-cell">{oneLine(ticket.summary)}</td>
              <td>
                <TicketSession ticket={ticket} />
              </td>
              <td className="end">
                <Moment at={ticket.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A ticket about a dependency belongs to no single session. */
function TicketSession({ ticket: { sessionId: id, sessionKey: key } }: { readonly ticket: TicketRow }) {
  if (id === "-") return <span className="ink-2">all that wait for it</span>;
  return <Link href={addressOf({ id, key })}>{nameOf({ id, key })}</Link>;
}

function Server({ status }: { readonly status: ServerStatus }) {
  const { queue, disk } = status;
  return (
    <dl className="facts server-facts">
      <dt>Queue</dt>
      <dd>
        {queue.running} of {counted(queue.places, "place")} in use, {counted(queue.waiting, "session")}{" "}
        waiting
      </dd>
      <dt>Disk</dt>
      <dd className="spent-fact">
        <span>
          {bytes(disk.freeBytes)} free of {bytes(disk.totalBytes)}; state takes {bytes(disk.stateBytes)}
        </span>
        <SpendBar used={disk.totalBytes - disk.freeBytes} limit={disk.totalBytes} width={96} />
      </dd>
      <dt>State</dt>
      <dd className="mono">{status.stateDirectory}</dd>
      <dt>Version</dt>
      <dd>{status.version}</dd>
      <dt>Started</dt>
      <dd>
        <Moment at={status.startedAt} />, <Age at={status.startedAt} /> ago
      </dd>
      <dt>Address</dt>
      <dd className="mono">{status.address}</dd>
    </dl>
  );
}
