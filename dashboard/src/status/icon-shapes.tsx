import type { ReactNode } from "react";
import type { StatusIcon } from "../sentences/status-word.ts";

/** Drawn on 16 by 16 in currentColor. `knock` is the color of cut-out parts. */
const knock = "var(--knock)";
const line = { fill: "none", stroke: "currentColor", strokeWidth: 1.4 } as const;
const cut = { fill: "none", stroke: knock, strokeWidth: 1.6, strokeLinecap: "round" } as const;
const octagon = "M5.5 1.8h5l3.7 3.7v5l-3.7 3.7h-5l-3.7-3.7v-5z";

const failed = (
  <>
    <path d={octagon} fill="currentColor" />
    <path d="m5.9 5.9 4.2 4.2m0-4.2-4.2 4.2" {...cut} />
  </>
);

export const statusShapes: Readonly<Record<StatusIcon, ReactNode>> = {
  queued: <circle cx="8" cy="8" r="5.7" {...line} strokeDasharray="2.4 2" />,
  pending: <circle cx="8" cy="8" r="3.6" {...line} />,
  running: (
    <>
      <circle cx="8" cy="8" r="5.7" {...line} strokeWidth="1.8" opacity=".28" />
      <path className="turning" d="M8 2.3a5.7 5.7 0 0 1 0 11.4" {...line} strokeWidth="1.8" />
    </>
  ),
  paused: (
    <>
      <rect x="2" y="2" width="12" height="12" rx="2" {...line} />
      <path d="M6.3 5.4v5.2m3.4-5.2v5.2" {...line} strokeWidth="1.6" />
    </>
  ),
  parked: (
    <>
      <path d="M8 .9 15.1 8 8 15.1.9 8z" fill="currentColor" />
      <path d="M8 4.6v4" {...cut} />
      <circle cx="8" cy="11" r="1" fill={knock} />
    </>
  ),
  completed: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path d="m5.2 8.2 2 2 3.6-4" {...cut} strokeLinejoin="round" />
    </>
  ),
  failed,
  canceled: (
    <>
      <circle cx="8" cy="8" r="5.7" {...line} />
      <path d="m4.2 11.8 7.6-7.6" {...line} />
    </>
  ),
  skipped: (
    <path d="M2 4.2v7.6L6.6 8zm5.4 0v7.6L12 8zM13.6 4v8" {...line} strokeLinejoin="round" strokeWidth="1.3" />
  ),
  reused: (
    <>
      <rect x="2" y="5" width="8.6" height="9" rx="1.4" {...line} />
      <path
        d="M5 4.8V3.4A1.4 1.4 0 0 1 6.4 2h6.2A1.4 1.4 0 0 1 14 3.4v6.8a1.4 1.4 0 0 1-1.4 1.4h-1.8"
        {...line}
      />
    </>
  ),
  retries: (
    <>
      <path d="M13.2 8.6A5.3 5.3 0 1 1 11.4 4" {...line} strokeWidth="1.6" />
      <path d="M11.9 1.4v3.2H8.7" {...line} strokeWidth="1.6" />
    </>
  ),
  waits: (
    <>
      <circle cx="8" cy="8" r="5.9" {...line} strokeWidth="1.5" />
      <path d="M8 4.6V8l2.4 1.6" {...line} strokeWidth="1.5" />
    </>
  ),
  "breaker-closed": (
    <>
      <path d="M3.6 8h8.8" {...line} strokeWidth="1.6" />
      <circle cx="2.6" cy="8" r="1.6" {...line} />
      <circle cx="13.4" cy="8" r="1.6" {...line} />
    </>
  ),
  "breaker-half-open": (
    <>
      <path d="M4.2 9.6 11 6.2" {...line} strokeWidth="1.6" strokeDasharray="2.2 1.8" />
      <circle cx="2.6" cy="10.4" r="1.6" {...line} />
      <circle cx="13.4" cy="10.4" r="1.6" {...line} />
    </>
  ),
  "breaker-open": (
    <>
      <path d="m4 10 6.4-6" {...line} strokeWidth="1.6" />
      <circle cx="2.6" cy="11.4" r="1.6" {...line} />
      <circle cx="13.4" cy="11.4" r="1.6" {...line} />
    </>
  ),
  unverified: (
    <>
      <circle cx="8" cy="8" r="5.9" {...line} strokeDasharray="2.4 1.9" />
      <path d="M6.5 6.6a1.55 1.55 0 1 1 2.3 1.4c-.6.3-.8.6-.8 1.1" {...line} strokeWidth="1.3" />
      <circle cx="8" cy="10.9" r=".8" fill="currentColor" />
    </>
  ),
  sealed: (
    <>
      <path d="M5.4 2v12" {...line} strokeWidth="1.3" />
      <path d="M9.6 2v12" {...line} strokeWidth="3" />
    </>
  ),
  damaged: failed,
};
