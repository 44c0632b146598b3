import { codeFile } from "../../package-files.ts";

/** The paths of the proxy's socket and its relay inside the sandbox. */
const socketPlace = "/run/maestro-proxy.sock";
const port = 3128;
const address = `http://127.0.0.1:${port}`;

/** A sandbox whose only network is the proxy behind this socket. */
export interface ProxyAccess {
  readonly socket: string;
}

/** The mounts that bring the socket and the relay into the sandbox. */
export function proxyMounts({ socket }: ProxyAccess): string[] {
  return ["--ro-bind", relayFile(), relayPlace(), "--bind", socket, socketPlace];
}

/** The words before a command that uses the proxy. */
export const relayWords = (): string[] => [process.execPath, relayPlace(), socketPlace, String(port)];

const relayFile = (): string => codeFile("workspace/network/relay").pathname;
const relayPlace = (): string => `/run/maestro-relay${relayFile().slice(relayFile().lastIndexOf("."))}`;

/** How programs find the proxy. Programs that use none of these have no network. */
export const proxyVariables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"].map((name) => [name, address]),
  ),
  NO_PROXY: "",
  no_proxy: "",
  NODE_USE_ENV_PROXY: "1",
  YARN_HTTP_PROXY: address,
  YARN_HTTPS_PROXY: address,
  MAVEN_OPTS: ["http", "https"]
    .map((scheme) => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${port}`)
    .join(" "),
};
