import { expect, test } from "vitest";
import * as errors from "../../../src/domain/errors.ts";
import {
  errorTable,
  HelpNeeded,
  InputInvalid,
  LeaseHeld,
  MaestroError,
  RecoverableError,
} from "../../../src/domain/errors.ts";

const names = Object.keys(errorTable) as errors.ErrorName[];

test.each(names)("%s says what Maestro does next, its exit code and its HTTP status", (name) => {
  const classes: Record<errors.ErrorName, new (message: string) => MaestroError> = errors;
  const error = new classes[name]("it happened");
  const [code, next, exitCode, httpStatus] = errorTable[name];
  expect(error).toMatchObject({ name, code, next, exitCode, httpStatus, message: "it happened" });
  expect(error).toBeInstanceOf(MaestroError);
  expect(String(error)).toBe(`${name}: it happened`);
  expect(error.details).toEqual({});
});

test("no two errors share a code", () => {
  expect(new Set(names.map((name) => errorTable[name][0])).size).toBe(names.length);
});

test("an error carries details, advice and cause", () => {
  const cause = new Error("deep");
  const error = new InputInvalid("bad", { details: { line: 1 }, advice: "Fix it.", cause });
  expect(error).toMatchObject({ details: { line: 1 }, advice: "Fix it.", cause });
  expect("cause" in new InputInvalid("bad")).toBe(false);
});

test("an error of another copy of the package is recognized", async () => {
  const path = "../../../src/domain/errors.ts?copy";
  const copy = (await import(/* @vite-ignore */ path)) as typeof errors;
  const foreign = new copy.LeaseHeld("held");
  expect(foreign).not.toBeInstanceOf(LeaseHeld);
  expect(MaestroError.is(foreign)).toBe(true);
  expect(LeaseHeld.is(foreign)).toBe(true);
  expect(HelpNeeded.is(foreign)).toBe(false);
});

test("an object that only looks like a Maestro error is not recognized as one", () => {
  const lookalike = Object.assign(new Error("x"), { code: "LEASE_HELD", details: {} });
  for (const value of [lookalike, undefined, null, "LEASE_HELD", 7, {}])
    expect(MaestroError.is(value)).toBe(false);
});

test("a persona can throw its own kind of RecoverableError under its own name", () => {
  class ModelBusy extends RecoverableError {
    override name = "ModelBusy";
  }
  const error = new ModelBusy("busy");
  expect(RecoverableError.is(error)).toBe(true);
  expect(error.toJSON()).toMatchObject({ name: "ModelBusy", code: "RECOVERABLE" });
});
