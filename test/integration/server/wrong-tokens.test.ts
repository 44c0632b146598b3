import { request } from "node:http";
import { expect, test } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { callerAddress } from "../../../src/server/access/caller-address.ts";
import { WrongTokens } from "../../../src/server/access/wrong-tokens.ts";
import { startServer, token } from "./support.ts";

function wrong(tokens: WrongTokens, address: string, times: number): void {
  for (let time = 0; time < times; time += 1) tokens.wasWrong(address);
}

test("an address that guesses waits longer and longer, up to a second, and no other address waits", () => {
  const tokens = new WrongTokens(new ManualClock());
  wrong(tokens, "a", 10);
  expect(tokens.delayMs("a"), "a person may mistype").toBe(0);
  const delays = Array.from({ length: 7 }, () => {
    tokens.wasWrong("a");
    return tokens.delayMs("a");
  });
  expect(delays).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  expect(tokens.delayMs("b")).toBe(0);
});

test("an address is forgiven with time, however often it was wrong", async () => {
  const clock = new ManualClock();
  const tokens = new WrongTokens(clock);
  wrong(tokens, "a", 100_000);
  expect(tokens.delayMs("a")).toBe(1_000);
  await clock.advance(3 * 60_000);
  expect(tokens.delayMs("a")).toBe(0);
});

test("a million addresses are not remembered, and the latest are", () => {
  const tokens = new WrongTokens(new ManualClock());
  wrong(tokens, "first", 20);
  for (let address = 0; address < 10_000; address += 1) tokens.wasWrong(`${address}`);
  wrong(tokens, "last", 20);
  expect([tokens.delayMs("first"), tokens.delayMs("last")]).toEqual([0, 1_000]);
});

test("the addresses of one IPv6 network count as one caller, and those of IPv4 each", () => {
  expect(callerAddress("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2");
  expect(callerAddress("2001:db8:1:2::9")).toBe("2001:db8:1:2");
  expect(callerAddress("2001:db8::9")).toBe("2001:db8:0:0");
  expect(callerAddress("fe80::1%eth0")).toBe("fe80:0:0:0");
  expect(callerAddress("::1")).toBe("0:0:0:0");
  expect(callerAddress("::ffff:192.0.2.7")).toBe("192.0.2.7");
  expect(callerAddress("192.0.2.7")).toBe("192.0.2.7");
});

test("guesses are answered ever later, and the right token at once, from their address as well", async () => {
  const server = await startServer({ config: { server: { apiToken: token, port: 0 } } });
  const { port } = await server.listen();
  const ask = (localAddress: string, given: string): Promise<{ status: number; ms: number }> => {
    const startedMs = performance.now();
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${given}` };
      request(
        { port, host: "127.0.0.1", path: "/v1/teams", localAddress, headers, agent: false },
        (answer) => {
          answer.resume();
          answer.on("end", () =>
            resolve({ status: answer.statusCode ?? 0, ms: performance.now() - startedMs }),
          );
        },
      )
        .on("error", reject)
        .end();
    });
  };
  const guesses = await Promise.all(
    Array.from({ length: 40 }, (_, guess) => ask("127.0.0.2", `${token.slice(0, -2)}${guess + 10}`)),
  );
  expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([401]));
  const wrong = await ask("127.0.0.2", `${token.slice(0, -2)}99`);
  expect(wrong.status).toBe(401);
  expect(wrong.ms).toBeGreaterThan(950);
  const [same, other] = await Promise.all([ask("127.0.0.2", token), ask("127.0.0.3", token)]);
  expect([same.status, other.status]).toEqual([200, 200]);
  expect(same.ms).toBeLessThan(wrong.ms);
});
