import { expect, test } from "vitest";
import { StateCorrupt } from "../../../src/domain/errors.ts";
import type { Json } from "../../../src/domain/json.ts";
import {
  newDelivery,
  onDelivered,
  onUnclear,
  type PostingDelivery,
  parseDelivery,
  type TicketDelivery,
} from "../../../src/domain/ticket-delivery.ts";

const start = 1_000_000_000;
const posting: PostingDelivery = {
  kind: "posting",
  owner: "a",
  deadline: start,
  failures: 0,
  unclear: false,
};
const delivered = onDelivered({ key: "OPS-1", url: "https://jira.example/browse/OPS-1" }, start);

test.each<TicketDelivery>([newDelivery(start), onUnclear(posting, start), posting, delivered])(
  "%o survives the database, and a damaged one is noticed",
  (delivery) => {
    expect(parseDelivery(JSON.parse(JSON.stringify(delivery)) as Json)).toEqual(delivery);
    for (const key of Object.keys(delivery))
      expect(() => parseDelivery({ ...delivery, [key]: [] } as Json)).toThrow(StateCorrupt);
  },
);

test.each<Json>([
  null,
  "pending",
  {},
  { kind: "lost" },
  { kind: "delivered", reference: { key: "", url: "x" }, at: 1 },
])("%j is refused", (json) => {
  expect(() => parseDelivery(json)).toThrow(StateCorrupt);
});
