import type { Maestro } from "../../api/open.ts";

export type Listing = Awaited<ReturnType<Maestro["listed"]>>[number];
