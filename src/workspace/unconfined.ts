import { readFileSync } from "node:fs";
import { type Advice, advise } from "../domain/advice.ts";
import { SandboxUnavailable } from "../domain/errors.ts";
import type { NoSandbox } from "./sandbox-kind.ts";

/** Refuses to run a command outside a sandbox. `what`: the action that was not done. */
export function unconfined(what: string, found: NoSandbox): SandboxUnavailable {
  return new SandboxUnavailable(`${what}, because this machine has no sandbox: ${found.reason}`, {
    details: { lacks: found.lacks, reason: found.reason },
    advice: sandboxAdvice(found),
  });
}

/** How to get a sandbox on this system, or how to do without one. */
export function sandboxAdvice({ lacks }: NoSandbox, system: System = thisSystem()): readonly Advice[] {
  const without = advise("Or let checks and agents run as your user, on all your files: --sandbox none");
  if (lacks === "program") return [advise(`Install bubblewrap: ${installCommand(system)}`), without];
  if (lacks === "rights")
    return [
      advise(
        "Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in Docker --security-opt seccomp=unconfined --security-opt systempaths=unconfined)",
      ),
      without,
    ];
  if (system.platform === "win32") return [advise("Run Maestro in WSL, and install bubblewrap there.")];
  return [advise("Run Maestro on Linux, or in a Linux container with bubblewrap."), without];
}

interface System {
  readonly platform: NodeJS.Platform;
  /** The text of /etc/os-release. */
  readonly release: string;
}

const thisSystem = (): System => ({ platform: process.platform, release: readRelease() });

function readRelease(): string {
  try {
    return readFileSync("/etc/os-release", "utf8");
  } catch {
    return "";
  }
}

/** Keyed by the names that os-release gives a system and its relatives. */
const installers: readonly (readonly [RegExp, string])[] = [
  [/^(?:debian|ubuntu)$/, "sudo apt-get install bubblewrap"],
  [/^(?:fedora|rhel|centos)$/, "sudo dnf install bubblewrap"],
  [/^(?:opensuse.*|suse|sles)$/, "sudo zypper install bubblewrap"],
  [/^arch$/, "sudo pacman -S bubblewrap"],
  [/^alpine$/, "sudo apk add bubblewrap"],
  [/^nixos$/, "nix-env -iA nixos.bubblewrap"],
];

function installCommand({ release }: System): string {
  const names = [...release.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)].flatMap(([, value = ""]) =>
    value.replaceAll(/["']/g, "").split(/\s+/),
  );
  const found = installers.find(([system]) => names.some((name) => system.test(name)));
  return found?.[1] ?? "the package is named bubblewrap";
}
