import { optionalNames } from "./optional-providers.ts";
import { alsoRead, compatible, gateway, knownProviders } from "./provider-table.ts";
import type { CallOptions, Message } from "./sdk-types.ts";

type Options = NonNullable<CallOptions["providerOptions"]>;
interface Optioned {
  readonly providerOptions?: Options | undefined;
}
type Reads = (key: string) => boolean;

const everyProvider: readonly string[] = [
  ...knownProviders,
  ...optionalNames,
  ...Object.values(alsoRead).flat(),
];

/**
 * The call without options that its provider does not read: frameworks write notes of their own there, such as the time,
 * and a call that differs in nothing else is the same call.
 */
export function withReadOptions(provider: string, options: CallOptions): CallOptions {
  const reads = readBy(provider);
  const { tools } = options;
  return {
    ...read(options, reads),
    prompt: options.prompt.map((message) => readMessage(message, reads)),
    ...(tools !== undefined && { tools: tools.map((tool) => read(tool, reads)) }),
  };
}

/** "openai.responses" reads `openai`, "amazon-bedrock" reads `bedrock` and `amazonBedrock`. */
function readBy(provider: string): Reads {
  const parts = provider.split(".").flatMap((part) => [part, ...part.split("-")]);
  const more = parts.flatMap((part) => (Object.hasOwn(alsoRead, part) ? (alsoRead[part] ?? []) : []));
  // A package that a program gave a name of its own, or a gateway, may read the options of any provider.
  const isOne = parts.some((part) => part !== gateway && everyProvider.includes(part));
  const names = new Set([...parts, ...more, ...(isOne ? [compatible] : everyProvider)].map(plainName));
  return (key) => names.has(plainName(key));
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

function readMessage(message: Message, reads: Reads): Message {
  const own = read(message, reads);
  if (typeof own.content === "string") return own;
  const content = own.content.map((part) => readPart(part, reads));
  return content.every((part, index) => part === own.content[index]) ? own : ({ ...own, content } as Message);
}

type Part = Exclude<Message["content"], string>[number];

/** The output of a tool has options too, and each part of it. */
function readPart(part: Part, reads: Reads): Part {
  const own = read(part, reads);
  if (own.type !== "tool-result") return own;
  const output = read(own.output, reads);
  if (output.type !== "content") return output === own.output ? own : { ...own, output };
  const value = output.value.map((item) => read(item, reads));
  const isSame = output === own.output && value.every((item, index) => item === output.value[index]);
  return isSame ? own : { ...own, output: { ...output, value } };
}

/** The same object where every option is read: thousands of calls wait at once. */
function read<T extends object>(item: T, reads: Reads): T {
  const { providerOptions, ...rest } = item as T & Optioned;
  if (providerOptions === undefined) return item;
  const kept = Object.entries(providerOptions).filter(([key]) => reads(key));
  if (kept.length === Object.keys(providerOptions).length) return item;
  return (kept.length === 0 ? rest : { ...rest, providerOptions: Object.fromEntries(kept) }) as T;
}
