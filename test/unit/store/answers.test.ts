import { expect, test } from "vitest";
import { Answers } from "../../../src/store/sqlite/writer-client.ts";

const done = { kind: "done" } as const;
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Commands that are answered when told to. */
function setUp() {
  let quiet = 0;
  const answers = new Answers(() => {
    quiet += 1;
  });
  const answered: number[] = [];
  let asked = 0;
  const ask = (count: number) => {
    for (const _ of numbers(count)) {
      const number = asked++;
      answers.expect(() => answered.push(number));
    }
  };
  return { answers, answered, ask, quiet: () => quiet };
}

test("answers come in the order of the commands, a few in each turn of the event loop", async () => {
  const { answers, answered, ask, quiet } = setUp();
  ask(100);
  answers.give(numbers(100).map(() => done));
  expect(answered.length).toBeGreaterThan(0);
  expect(answered.length).toBeLessThan(50);
  while (answered.length < 100) await turn();
  expect(answered).toEqual(numbers(100));
  expect(quiet()).toBe(1);
});

test("work waits for room to begin, in the order of asking", async () => {
  const { answers, answered, ask } = setUp();
  const begun: number[] = [];
  const begin = (number: number) => {
    const room = answers.waitForRoom();
    if (room === undefined) begun.push(number);
    else void room.then(() => begun.push(number));
  };
  begin(0);
  expect(begun).toEqual([0]);
  ask(1_000);
  for (const number of numbers(50)) begin(number + 1);
  expect(begun).toEqual([0]);
  answers.give(numbers(950).map(() => done));
  while (begun.length === 1) await turn();
  expect(begun.length).toBeLessThan(50);
  begin(51);
  expect(begun).not.toContain(51);
  while (begun.length < 52 || answered.length < 950) await turn();
  expect(begun).toEqual(numbers(52));
  expect(answers.waitForRoom()).toBeUndefined();
  expect(answered).toEqual(numbers(950));
});

test("a command that the writer never got is not answered for it, and work that waits for room begins", async () => {
  const { answers, answered, ask } = setUp();
  const begun: number[] = [];
  ask(200);
  void answers.waitForRoom()?.then(() => begun.push(1));
  answers.give([done, done]);
  answers.giveAll(done, 20);
  expect(answered).toEqual(numbers(180));
  while (begun.length === 0) await turn();
});
