import type { ReactNode } from "react";

/** Icons of actions and objects. They have no color and always a label. */
const shapes = {
  search: (
    <>
      <circle cx="7" cy="7" r="4.4" />
      <path d="m10.4 10.4 3.4 3.4" />
    </>
  ),
  filter: <path d="M2 4h12M4.2 8h7.6M6.4 12h3.2" />,
  plus: <path d="M8 3v10M3 8h10" />,
  pause: <path d="M5.5 3.5v9m5-9v9" />,
  play: <path d="M4.6 3.2 12.4 8l-7.8 4.8z" strokeLinejoin="round" />,
  fork: (
    <>
      <path d="M4.5 5v6m0-1.6c0-2.4 7-1.2 7-4.4" />
      <circle cx="4.5" cy="3.4" r="1.5" />
      <circle cx="4.5" cy="12.6" r="1.5" />
      <circle cx="11.5" cy="3.4" r="1.5" />
    </>
  ),
  more: (
    <>
      <circle cx="3.4" cy="8" r=".7" fill="currentColor" />
      <circle cx="8" cy="8" r=".7" fill="currentColor" />
      <circle cx="12.6" cy="8" r=".7" fill="currentColor" />
    </>
  ),
  copy: (
    <>
      <rect x="5.4" y="5.4" width="8" height="8" rx="1.4" />
      <path d="M3.4 10.4a1 1 0 0 1-.8-1V3.6a1 1 0 0 1 1-1h5.8a1 1 0 0 1 1 .8" />
    </>
  ),
  check: <path d="m3.2 8.4 3 3 6.6-7" />,
  cross: <path d="m4 4 8 8m0-8-8 8" />,
  pencil: <path d="m3 13 .8-3.2 7-7 2.4 2.4-7 7zM9.4 4.2l2.4 2.4" strokeLinejoin="round" />,
  file: <path d="M4 1.8h5.2l3 3v9.4H4zM9 2v3h3" strokeLinejoin="round" />,
  folder: <path d="M1.8 4.4V12.6h12.4V5.2H7.6L6.2 3.4H1.8z" strokeLinejoin="round" />,
  terminal: <path d="m3 4 4 4-4 4m5.4.4H13" />,
  down: <path d="m4 6 4 4 4-4" />,
  right: <path d="m6 4 4 4-4 4" />,
  restart: <path d="M8.8 1.8 3.6 9h4L7.2 14.2 12.4 7h-4z" strokeLinejoin="round" />,
  live: (
    <>
      <circle cx="8" cy="8" r="1.8" fill="currentColor" />
      <path d="M4.4 4.2a5.4 5.4 0 0 0 0 7.6m7.2-7.6a5.4 5.4 0 0 1 0 7.6" />
    </>
  ),
  lost: (
    <>
      <path d="M4.4 4.2a5.4 5.4 0 0 0 0 7.6m7.2-7.6a5.4 5.4 0 0 1 0 7.6" />
      <path d="m3 13.4 10-10.8" />
    </>
  ),
  theme: (
    <>
      <circle cx="8" cy="8" r="5.6" />
      <path d="M8 2.4a5.6 5.6 0 0 1 0 11.2z" fill="currentColor" />
    </>
  ),
  ticket: (
    <path d="M1.8 4.4h12.4v2.2a1.5 1.5 0 0 0 0 2.8v2.2H1.8V9.4a1.5 1.5 0 0 0 0-2.8z" strokeLinejoin="round" />
  ),
  download: <path d="M8 2.4v7.4m-3-3 3 3 3-3M2.8 13.2h10.4" />,
  table: <path d="M2 3.4h12v9.2H2zM2 6.6h12M6.4 3.6v9" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof shapes;

export function Icon({ name, size = 15 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      aria-hidden="true"
    >
      {shapes[name]}
    </svg>
  );
}

/** The signature: two dots, a thin and a thick bar. */
export function Logo() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" fill="currentColor" aria-hidden="true">
      <path d="M1 5h2.6v2.6H1zM1 10.4h2.6V13H1zM6.2 1.4h1.4v15.2H6.2zM10.4 1.4h5v15.2h-5z" />
    </svg>
  );
}
