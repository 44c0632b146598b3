import { z } from "@hono/zod-openapi";
import { roles } from "../../api/people.ts";
import { time } from "./values.ts";

const role = z.enum(roles);
const kind = z.enum(["token", "link"]);

export const me = z.object({ name: z.string(), role }).openapi("Me");

const user = z
  .object({ name: z.string(), role, kind, createdAt: time, endsAt: time.nullable() })
  .openapi("User");

export const usersView = z.object({ users: z.array(user) }).openapi("Users");

export const newUser = z
  .strictObject({
    name: z.string().min(1).max(100),
    role,
    kind: kind.default("token"),
    days: z.number().positive().optional().openapi({
      description: "Until it ends. Default: a token ends when it is revoked, a link after a day.",
    }),
  })
  .openapi("NewUser");

export const userAdded = user
  .extend({ token: z.string().nullable(), url: z.string().nullable() })
  .openapi("UserAdded");

const act = z
  .object({
    at: time,
    person: z.string(),
    role,
    operation: z.string(),
    subject: z.string().nullable(),
    status: z.number().int(),
    request: z.string(),
  })
  .openapi("Act");

export const actsView = z.object({ acts: z.array(act) }).openapi("Acts");
