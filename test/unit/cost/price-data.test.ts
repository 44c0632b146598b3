import { findProvider } from "@pydantic/genai-prices";
import { describe, expect, test } from "vitest";
import { findModel, mostPriceBytes, parsePriceData, versionOfPrices } from "../../../src/cost/price-data.ts";
import { Prices } from "../../../src/cost/prices.ts";
import { tableOfData } from "../../../src/cost/published.ts";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { noUsage } from "../../../src/domain/usage.ts";
import { optionalNames, optionalProviders } from "../../../src/personas/model/optional-providers.ts";
import { knownProviders, providers, publishedNames } from "../../../src/personas/model/provider-table.ts";

const clock = new ManualClock(Date.UTC(2026, 10, 15));
const bytes = (data: unknown): Buffer => Buffer.from(JSON.stringify(data));
const parse = (data: unknown) => parsePriceData(bytes(data), "data.json");

const model = (over: object = {}) => ({
  id: "large",
  match: { equals: "large" },
  prices: { input_mtok: 3, output_mtok: 15 },
  ...over,
});
const withModel = (over: object) => [{ id: "acme", models: [model(over)] }];

/** The prices that the installed package publishes, as a file. */
const published = [
  ...new Set([...knownProviders, ...optionalNames].map((name) => publishedNames[name] ?? name)),
].flatMap((providerId) => {
  const found = findProvider({ providerId });
  return found?.id === providerId ? [found] : [];
});

const costOf = async (prices: Prices, name: string) =>
  (await prices.of(name))?.cost({ ...noUsage, inputTokens: 1_000_000, outputTokens: 1_000_000 });

describe("a table of published prices", () => {
  test("that the maker publishes is read whole, and gives the same prices as the installed package", async () => {
    const table = tableOfData("update:1", parse(published));
    const names = publishedNames;
    const updated = new Prices({}, { clock, names, file: { table: async () => table } });
    const installed = new Prices({}, { clock, names });
    const wanted = published.flatMap(({ id, models }) => models.map((each) => `${id}/${each.id}`));
    expect(wanted.length).toBeGreaterThan(500);
    let priced = 0;
    for (const name of wanted) {
      const [now, before] = [await updated.of(name), await installed.of(name)];
      expect(await costOf(updated, name), name).toBe(await costOf(installed, name));
      if (before === null) continue;
      priced += 1;
      expect([now?.table, before.table.startsWith("genai-prices@")]).toEqual(["update:1", true]);
    }
    expect(priced).toBeGreaterThan(400);
  });

  test("is asked before the installed package, which answers for what it lacks", async () => {
    const table = tableOfData(
      "update:2",
      parse([
        {
          id: "anthropic",
          models: [model({ id: "claude-brand-new", match: { starts_with: "claude-brand" } })],
        },
      ]),
    );
    const prices = new Prices({}, { clock, file: { table: async () => table } });
    expect(await prices.of("anthropic/claude-brand-new-20301231")).toMatchObject({ table: "update:2" });
    expect(await costOf(prices, "anthropic/claude-brand-new")).toBe(18_000_000);
    expect((await prices.of("anthropic/claude-sonnet-4-5"))?.table).toMatch(/^genai-prices@\d/);
    expect(await prices.of("anthropic/claude-imaginary-9")).toBeNull();
  });

  test("has the same version for the same prices, and another one for others", () => {
    const [one, same, other] = [
      withModel({}),
      withModel({}),
      withModel({ prices: { input_mtok: 4, output_mtok: 15 } }),
    ];
    expect(versionOfPrices(parse(one))).toBe(versionOfPrices(parse(same)));
    expect(versionOfPrices(parse(one))).not.toBe(versionOfPrices(parse(other)));
    expect(versionOfPrices(parse(one))).toMatch(/^update:[0-9a-f]{12}$/);
  });

  test("finds a model of another provider that a provider serves, and one whose date is written otherwise", () => {
    const table = parse([
      { id: "cloud", models: [], fallback_model_providers: ["gone", "acme"] },
      {
        id: "acme",
        models: [model({ match: { or: [{ ends_with: "-2030-01-31" }, { regex: "^large\\d$" }] } })],
      },
    ]);
    expect(findModel(table, "cloud", "large7")?.id).toBe("large");
    expect(findModel(table, "cloud", "LARGE-20300131")?.id).toBe("large");
    expect(findModel(table, "acme", "largest")).toBeUndefined();
    expect(findModel(table, "acme", `large${"7".repeat(1_000)}`)).toBeUndefined();
    expect(findModel(table, "constructor", "large7")).toBeUndefined();
  });

  test("uses the price of the day, and the price of a long input", async () => {
    const cheap = { input_mtok: 1, output_mtok: 1 };
    const tiers = { base: 2, tiers: [{ start: 100_000, price: 4 }] };
    const dated = [
      { prices: cheap },
      { constraint: { start_date: "2026-12-01" }, prices: { input_mtok: tiers, output_mtok: 9 } },
    ];
    const table = tableOfData("update:3", parse([{ id: "openai", models: [model({ prices: dated })] }]));
    const at = (day: number) => new ManualClock(Date.UTC(2026, 10, day));
    const of = async (day: number, inputTokens: number) =>
      (await new Prices({}, { clock: at(day), file: { table: async () => table } }).of("openai/large"))?.cost(
        {
          ...noUsage,
          inputTokens,
        },
      );
    expect(await of(15, 200_000)).toBe(200_000);
    expect(await of(45, 50_000)).toBe(100_000);
    expect(await of(45, 200_000)).toBe(800_000);
  });

  test.each([
    ["a negative price", { prices: { input_mtok: -1, output_mtok: 1 } }, "input_mtok is -1"],
    ["an absurd price", { prices: { input_mtok: 1e9, output_mtok: 1 } }, "input_mtok is 1000000000"],
    ["a price as a text", { prices: { input_mtok: "3", output_mtok: 1 } }, 'input_mtok is "3"'],
    [
      "a negative price of a key that is not used",
      { prices: { input_mtok: 1, output_mtok: 1, x: -1 } },
      "x is -1",
    ],
    [
      "a negative tier",
      { prices: { input_mtok: { base: 1, tiers: [{ start: 1, price: -2 }] } } },
      "input_mtok is -2",
    ],
    [
      "a tier without a start",
      { prices: { input_mtok: { base: 1, tiers: [{ price: 2 }] } } },
      "a tier without a start",
    ],
    ["no prices", { prices: null }, "it has no prices"],
    ["an empty list of prices", { prices: [] }, "its list of prices is empty"],
    [
      "a constraint that is not known",
      { prices: [{ constraint: { moon: "full" }, prices: {} }] },
      "a constraint is",
    ],
    [
      "a day that does not exist",
      { prices: [{ constraint: { start_date: "2026-13-01" }, prices: {} }] },
      "a constraint is",
    ],
    ["no names", { match: {} }, "nothing says which names it has"],
    ["two ways to match", { match: { equals: "a", contains: "b" } }, "nothing says which names it has"],
    ["an unknown way to match", { match: { sounds_like: "a" } }, 'matched by "sounds_like"'],
    ["a pattern that takes for ever", { match: { regex: "^(a+)+$" } }, "could take too long"],
    ["a pattern with a repeated group", { match: { regex: "(a|aa){20}b" } }, "could take too long"],
    ["a pattern that refers back", { match: { regex: "(a)\\1" } }, "could take too long"],
    ["a pattern that is none", { match: { regex: "(" } }, "could take too long"],
    ["an endless pattern", { match: { regex: "a".repeat(301) } }, "nothing says which names it has"],
    ["an id with a line break", { id: "a\nb" }, "no usable id"],
  ])("with %s is refused whole", (_, over, why) => {
    const refused = () => parse([{ id: "fine", models: [model()] }, ...withModel(over)]);
    expect(refused).toThrow(InputInvalid);
    expect(refused).toThrow(why);
  });

  test.each([
    ["not JSON", Buffer.from("<html>"), "it is not JSON"],
    ["no list", bytes({ anthropic: {} }), "it is not a list of providers"],
    ["an empty list", bytes([]), "it is not a list of providers"],
    ["no models", bytes([{ id: "a", models: [] }]), "it has 0 models"],
    ["a provider twice", bytes([...withModel({}), ...withModel({})]), "a provider is in it twice"],
    ["a provider without an id", bytes([{ models: [] }]), "a provider has no usable id"],
    ["JSON that is too deep", Buffer.from(`${"[".repeat(5_000)}${"]".repeat(5_000)}`), "it is not JSON"],
    ["too many bytes", Buffer.alloc(mostPriceBytes + 1, 32), "it is larger than"],
  ])("that is %s is refused", (_, content, why) => {
    expect(() => parsePriceData(content, "data.json")).toThrow(why);
  });
});

describe("the example of a provider", () => {
  test.each([
    ...knownProviders.filter((name) => name !== "openai-compatible").map((name) => providers[name].example),
    ...optionalNames.filter((name) => name !== "azure").map((name) => optionalProviders[name].example),
  ])("%s has a published price", async (name) => {
    const price = await new Prices({}, { clock, names: publishedNames }).of(name);
    expect(price?.cost({ ...noUsage, inputTokens: 1_000, outputTokens: 1_000 })).toBeGreaterThan(0);
  });
});
