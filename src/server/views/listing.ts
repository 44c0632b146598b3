import type { Maestro } from "../../api/open.ts";

/** A session with its card and what it has used. */
export type Listing = Awaited<ReturnType<Maestro["listed"]>>[number];
