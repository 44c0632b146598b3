import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { checkpointsQuery } from "../api/queries.ts";
import type { TicketView } from "../api/types.ts";
import { useNow } from "../live/clock.ts";
import { keptText, sealedText, stoppedHeadline, ticketsText } from "../sentences/stopped-text.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { Icon } from "../ui/icons.tsx";
import { Time } from "../ui/time.tsx";

/** More are told by their number. */
const mostTickets = 3;

/** What stopped, and that nothing is lost. The focus starts here. */
export function Headline() {
  const { view } = useScene();
  const now = useNow();
  const head = useRef<HTMLHeadingElement>(null);
  // Reading the checkpoints verifies them.
  const seals = useQuery(checkpointsQuery(view.id));
  useEffect(() => {
    // Only when nothing else has the focus: a stop that arrives must not take it away.
    if (document.activeElement === document.body) head.current?.focus({ preventScroll: true });
  }, []);
  const { situation, status, stop, tickets } = view;
  const kept = keptText(stop?.keptPersonas ?? 0);
  const parked = status === "parked";
  return (
    <header className={`headline ${parked ? "parked" : "failed"}`}>
      <h2 ref={head} tabIndex={-1} className="outside">
        {stoppedHeadline(situation, now) ?? ""}
      </h2>
      <ul className="headline-facts">
        <li>
          <Icon name="pause" size={14} />
          Nothing is running or spending
        </li>
        <li>
          <StatusMark icon="sealed" size={14} />
          {sealedText(view, seals.data === undefined ? null : seals.dataUpdatedAt)}
        </li>
        {kept === undefined ? null : (
          <li>
            <StatusMark icon="completed" size={14} />
            {kept}
          </li>
        )}
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
