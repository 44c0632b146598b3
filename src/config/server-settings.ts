import type { SettingKey, SettingValue } from "./config.ts";
import type { Setting } from "./setting.ts";
import { apiToken, integer, origin, text } from "./setting-kinds.ts";

type ServerKey = Extract<SettingKey, `server.${string}`>;

/** The settings of `maestro serve`. */
export const serverSettings: { readonly [Key in ServerKey]: Setting<SettingValue<Key>> } = {
  "server.host": {
    environment: "MAESTRO_SERVER_HOST",
    default: "127.0.0.1",
    kind: text,
    secret: false,
    needsTrust: "it could open the server to the network",
    description: "Address that maestro serve listens on.",
  },
  "server.port": {
    environment: "MAESTRO_SERVER_PORT",
    default: 4160,
    kind: integer(0, 65_535),
    secret: false,
    needsTrust: null,
    description: "Port that maestro serve listens on; 0 takes a free one.",
  },
  "server.apiToken": {
    environment: "MAESTRO_API_TOKEN",
    default: undefined,
    kind: apiToken,
    secret: true,
    needsTrust: "a stranger would know the secret",
    description:
      "Token of the HTTP API; unset: one is made at the first start and kept in the state directory.",
  },
  "server.places": {
    environment: "MAESTRO_SERVER_PLACES",
    default: 8,
    kind: integer(1, 10_000),
    secret: false,
    needsTrust: null,
    description: "Sessions that maestro serve drives at once; the others are queued.",
  },
  "server.functionMemoryMb": {
    environment: "MAESTRO_SERVER_FUNCTION_MEMORY_MB",
    default: 1_024,
    kind: integer(64, 1_048_576),
    secret: false,
    needsTrust: "it lifts a limit of what code may use",
    description: "MiB of memory that an attempt of a function persona may use under maestro serve.",
  },
  "server.publicUrl": {
    environment: "MAESTRO_SERVER_PUBLIC_URL",
    default: undefined,
    kind: origin,
    secret: false,
    description: "Address under which people reach maestro serve, where that is not its own.",
    needsTrust: "it decides how people reach the server",
  },
  "server.tlsCert": {
    environment: "MAESTRO_SERVER_TLS_CERT",
    default: undefined,
    kind: text,
    secret: false,
    description: "PEM file with the certificate of maestro serve and those of its issuers.",
    needsTrust: "it decides how people reach the server",
  },
  "server.tlsKey": {
    environment: "MAESTRO_SERVER_TLS_KEY",
    default: undefined,
    kind: text,
    secret: false,
    description: "PEM file with the private key of that certificate.",
    needsTrust: "it decides how people reach the server",
  },
};
