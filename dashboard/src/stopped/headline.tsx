import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { checkpointsQuery } from "../api/queries.ts";
import type { TicketView } from "../api/types.ts";
import { oneLine } from "../format/plain-text.ts";
import { clock } from "../format/time.ts";
import { ticketsText } from "../sentences/stopped-text.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { Icon } from "../ui/icons.tsx";
import { Time } from "../ui/time.tsx";

/** More tickets are shown as a number. */
const mostTickets = 3;

/** Takes the focus first. */
export function Headline() {
  const { view } = useScene();
  const head = useRef<HTMLHeadingElement>(null);
  // Reading the checkpoints verifies them.
  const seals = useQuery(checkpointsQuery(view.id));
  useEffect(() => {
    // Only if nothing else has the focus: a stop that arrives must not take it away.
    if (document.activeElement === document.body) head.current?.focus({ preventScroll: true });
  }, []);
  const { headline, explanation, status, tickets } = view;
  const parked = status === "parked";
  return (
    <header className={`headline ${parked ? "parked" : "failed"}`}>
      <h2 ref={head} tabIndex={-1} className="outside">
        {oneLine(headline ?? "", 240)}
      </h2>
      <ul className="headline-facts">
        <li>
          <StatusMark icon="sealed" size={14} />
          {explanation.lost}
          {seals.data === undefined ? "" : ` Verified ${clock(seals.dataUpdatedAt)}.`}
        </li>
        <li>
          <Icon name="pause" size={14} />
          {explanation.cost}
        </li>
        {tickets.length > mostTickets ? (
          <li>
            <Icon name="ticket" size={14} />
            <Link href="/health">{ticketsText(tickets)}</Link>
          </li>
        ) : (
          tickets.map((ticket) => <TicketLine key={ticket.fingerprint} ticket={ticket} />)
        )}
      </ul>
    </header>
  );
}

function TicketLine({ ticket }: { readonly ticket: TicketView }) {
  return (
    <li>
      <Icon name="ticket" size={14} />
      <span>
        Ticket{" "}
        {ticket.url === null || !/^https?:\/\//.test(ticket.url) ? (
          (ticket.key ?? "")
        ) : (
          <a href={ticket.url} rel="noreferrer noopener" target="_blank">
            {ticket.key}
          </a>
        )}{" "}
        {ticket.status === "delivered" ? (
          <>
            delivered <Time at={ticket.at} />
          </>
        ) : (
          `not delivered yet${ticket.lastError === null ? "" : `: ${ticket.lastError}`}`
        )}
      </span>
    </li>
  );
}
