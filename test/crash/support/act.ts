import type { JsonObject } from "../../../src/domain/json.ts";
import type { Settlement } from "../../../src/index.ts";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import { clockAhead } from "./later.ts";
import { armFault, open } from "./package.ts";

/** A process that performs one action without driving a session, and is killed at it. */
export interface ActOptions {
  readonly stateDir: string;
  readonly act: Act;
  readonly fault?: ArmedFault | undefined;
}

export type Act =
  | { readonly do: "pause"; readonly session: string }
  | {
      readonly do: "settle";
      readonly session: string;
      readonly step: number;
      readonly settlement: Settlement;
    }
  | { readonly do: "cancel"; readonly session: string }
  | { readonly do: "reject"; readonly session: string; readonly repeatEffects: boolean }
  | {
      readonly do: "approve call";
      readonly session: string;
      readonly call: number;
      readonly arguments?: JsonObject;
    }
  | { readonly do: "reject call"; readonly session: string; readonly call: number; readonly note: string }
  | { readonly do: "answer"; readonly session: string; readonly call: number; readonly text: string }
  | { readonly do: "export"; readonly session: string; readonly file: string }
  | { readonly do: "import and trust"; readonly file: string }
  | { readonly do: "reset breaker"; readonly dependency: string }
  | { readonly do: "sign in" | "renew login" | "sign out"; readonly hash: string }
  | { readonly do: "add user" | "redeem link" | "revoke user" | "note act" }
  | { readonly do: "prune everything"; readonly laterMs?: number };

const renewed = { usedAt: 2_000, expiresAt: 20_000 };
const newLogin = { name: "owner", role: "admin", createdAt: 1_000, usedAt: 1_000, expiresAt: 10_000 };

const guest = { name: "ada", role: "operator", kind: "link", createdAt: 1_000 } as const;
const noted = {
  at: 1_000,
  person: "ada",
  role: "operator",
  operation: "approveSession",
  status: 202,
  request: "r",
} as const;

const { stateDir, act, fault } = JSON.parse(process.argv[2] ?? "") as ActOptions;
armFault(fault);
const laterMs = act.do === "prune everything" ? (act.laterMs ?? 0) : 0;
const maestro = await open({ stateDir, clock: clockAhead(laterMs) });
if (act.do === "pause") await maestro.pause(act.session);
if (act.do === "cancel") await maestro.cancel(act.session);
if (act.do === "reject")
  await maestro.reject(act.session, { note: "sell it again", repeatEffects: act.repeatEffects });
if (act.do === "settle") await maestro.settle(act.session, act.step, act.settlement);
if (act.do === "approve call")
  await maestro.approve(act.session, {
    call: act.call,
    ...(act.arguments !== undefined && { arguments: act.arguments }),
  });
if (act.do === "reject call") await maestro.reject(act.session, { call: act.call, note: act.note });
if (act.do === "answer") await maestro.answer(act.session, act.call, act.text);
if (act.do === "export") await maestro.exportCheckpoints(act.session, act.file);
if (act.do === "import and trust") await maestro.importCheckpoints(act.file, { trust: true });
if (act.do === "reset breaker") await maestro.resetBreaker(act.dependency);
if (act.do === "sign in") await maestro.access.logins.add(act.hash, newLogin);
if (act.do === "renew login") await maestro.access.logins.renew(act.hash, renewed);
if (act.do === "sign out") await maestro.access.logins.end(act.hash);
const { users, trail } = maestro.access;
if (act.do === "add user") await users.add("hash", guest);
if (act.do === "redeem link") await users.redeem("hash");
if (act.do === "revoke user") await users.revoke(guest.name);
if (act.do === "note act") await trail.add(noted);
if (act.do === "prune everything") await maestro.prune({ keep: 0 });
await maestro.close();
