import { type ClerkOptions, explain, work } from "./clerk-work.ts";

/** A process that drives the clerk's session and reports its end. */
const options = JSON.parse(process.argv[2] ?? "{}") as ClerkOptions;
const end = await work(options).catch(explain);
process.stdout.write(JSON.stringify(end));
