import { z } from "@hono/zod-openapi";
import { attachmentTypes } from "../../domain/attachment.ts";
import { viewCounts } from "./session.ts";
import { list, range, time, usage } from "./values.ts";

const count = z.number().int().min(0);

export const serverStatus = z
  .object({
    version: z.string(),
    instance: z.string().openapi({ description: "Differs after a restart." }),
    startedAt: time,
    address: z.string(),
    stateDirectory: z.string(),
    stateDirectoryFlag: z.string().nullable().openapi({
      description: "The value of --state-dir for commands. Null: they find the directory without it.",
    }),
    repoRoots: list(z.string()).openapi({
      description: "Sessions may start with repositories at or below these folders.",
    }),
    disk: z.object({ stateBytes: count, freeBytes: count, totalBytes: count }),
    queue: z.object({ running: count, places: count, waiting: count }),
    counts: viewCounts,
    breakersNotClosed: count,
    spentTodayUsd: z.number().nullable(),
    simulatedTodayUsd: z.number().openapi({ description: "The invented part, from the simulated model." }),
    savedTodayUsd: z.number().nullable(),
  })
  .openapi("ServerStatus");

export const uploadView = z
  .object({
    id: z.string().openapi({ description: "`upload` of a request that starts a session." }),
    format: z.enum(["zip", "tar.gz"]),
    bytes: count,
    files: count,
    leftOut: list(z.object({ path: z.string(), reason: z.string() })),
    expiresAt: time,
  })
  .openapi("Upload");

/** The answer for one uploaded file. */
export const attachmentView = z
  .object({
    id: z.string().openapi({ description: "For `attachments` of a request that starts a session." }),
    name: z.string(),
    mediaType: z.enum(attachmentTypes),
    bytes: count,
    sha256: z.string(),
    expiresAt: time,
  })
  .openapi("UploadedAttachment");

export const breakerView = z
  .object({
    name: z.string(),
    state: z.enum(["closed", "open", "half-open"]),
    failures: count,
    threshold: count,
    openedAt: time.nullable(),
    probeAt: time.nullable(),
    failedProbes: count,
    notBefore: time.nullable(),
    cooldownMs: count,
    waiting: list(
      z.object({
        id: z.string(),
        key: z.string().nullable(),
        phase: z.string().nullable(),
        persona: z.string().nullable(),
        parked: z.boolean(),
      }),
    ),
  })
  .openapi("Breaker");

export const breakersView = z.object({ breakers: list(breakerView) }).openapi("Breakers");

export const ticketsView = z
  .object({
    tickets: list(
      z.object({
        id: z.string(),
        fingerprint: z.string(),
        summary: z.string(),
        sessionId: z.string(),
        sessionKey: z.string().nullable(),
        status: z.enum(["pending", "posting", "delivered"]),
        key: z.string().nullable(),
        url: z.string().nullable(),
        createdAt: time,
        deliveredAt: time.nullable(),
        notBefore: time.nullable(),
        lastError: z.string().nullable(),
        failures: count,
      }),
    ),
  })
  .openapi("Tickets");

export const usageReport = z
  .object({
    total: usage,
    rows: list(usage.extend({ name: z.string() })),
    bucket: z.enum(["hour", "day"]),
    series: list(
      z.object({ at: time, name: z.string(), tokens: z.number(), costUsd: z.number().nullable() }),
    ),
    savings: list(
      z.object({
        by: z.enum(["resume", "reuse", "cache", "patches"]),
        tokens: z.number(),
        usd: z.number().nullable(),
      }),
    ),
    forecasts: list(
      z.object({
        id: z.string(),
        key: z.string().nullable(),
        forecast: range,
        actualUsd: z.number().nullable(),
        finished: z
          .boolean()
          .openapi({ description: "True: the forecast was made when the session started." }),
      }),
    ),
    budgets: list(
      z.object({
        level: z.enum(["day", "session"]),
        id: z.string().nullable(),
        key: z.string().nullable(),
        limitUsd: z.number().nullable(),
        usedUsd: z.number().nullable(),
        limitTokens: z.number().nullable(),
        usedTokens: z.number(),
      }),
    ).openapi({ description: "Today's budget and those of unfinished sessions, newest first." }),
    alerts: list(
      z.object({
        at: time,
        kind: z.enum(["budget-most", "budget-reached", "forecast"]),
        message: z.string(),
        id: z.string().nullable(),
        key: z.string().nullable(),
      }),
    ),
  })
  .openapi("UsageReport");

export const teamsView = z
  .object({
    teams: list(
      z.object({
        name: z.string(),
        model: z.string().nullable(),
        phases: list(z.string()),
        personas: count,
        builtIn: z.boolean(),
        file: z.string().nullable().openapi({ description: "The file that the server read it from." }),
      }),
    ),
    models: list(z.string()),
  })
  .openapi("Teams");

export const dashboardLink = z
  .object({ url: z.string(), expiresAt: time })
  .openapi("DashboardLink", { description: "Opens the dashboard once." });

export const health = z.object({ status: z.literal("ok") }).openapi("Health");

export type ServerStatus = z.infer<typeof serverStatus>;
export type BreakerView = z.infer<typeof breakerView>;
export type TicketsView = z.infer<typeof ticketsView>;
export type UsageReportView = z.infer<typeof usageReport>;
export type TeamsView = z.infer<typeof teamsView>;
