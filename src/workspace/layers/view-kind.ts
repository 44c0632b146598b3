import { execFile } from "node:child_process";
import { mkdir, mkdtemp, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram, searchPath } from "../find-program.ts";
import { removeFolder } from "../remove-folder.ts";
import type { Bubblewrap } from "../sandbox-kind.ts";
import { canBeMounted, type MountPrograms, makeViews, mountWords, type ViewKind } from "./private-view.ts";

/** How a file system shows layers, and with which programs. */
export interface ViewMethod {
  readonly kind: ViewKind;
  readonly programs: MountPrograms;
}

const trialMs = 20_000;
const noPrograms: MountPrograms = { unshare: "", mount: "", setpriv: "" };
const tried = new Map<string, Promise<ViewMethod>>();

/** Tried once for each file system, because kernels, containers and file systems differ in what they allow. */
export async function viewMethod(folder: string, sandbox: Bubblewrap): Promise<ViewMethod> {
  if (!canBeMounted(folder)) return { kind: "copy", programs: noPrograms };
  const { dev } = await stat(folder);
  const key = `${dev} ${sandbox.identity}`;
  const known = tried.get(key) ?? findMethod(folder, sandbox);
  tried.set(key, known);
  return known;
}

async function findMethod(folder: string, sandbox: Bubblewrap): Promise<ViewMethod> {
  const [unshare, mount] = await Promise.all(
    ["unshare", "mount"].map((name) => findProgram(name, searchPath())),
  );
  const { setpriv, identity } = sandbox;
  if (unshare === undefined || mount === undefined || setpriv === undefined)
    return { kind: "copy", programs: noPrograms };
  const programs = { unshare, mount, setpriv };
  const kind = identity === "other-user" ? "overlay" : "user-overlay";
  return (await canOverlay(folder, kind, programs, sandbox))
    ? { kind, programs }
    : { kind: "copy", programs: noPrograms };
}

async function canOverlay(
  folder: string,
  kind: ViewKind,
  programs: MountPrograms,
  { program, identity }: Bubblewrap,
): Promise<boolean> {
  const trial = await mkdtemp(join(folder, "overlay-"));
  try {
    const source = join(trial, "lower");
    await mkdir(source);
    const views = await makeViews([{ source, place: "" }], join(trial, "views"), kind, undefined);
    const own = identity === "user-namespace" ? ["--unshare-user"] : [];
    const sandbox = [program, ...own, "--ro-bind", "/", "/", "--bind", views[0]?.shown ?? "", "/tmp"];
    const [file = "", ...words] = [...mountWords(views, kind, programs), ...sandbox];
    await promisify(execFile)(file, [...words, "/bin/sh", "-c", "echo x > /tmp/x"], { timeout: trialMs });
    return true;
  } catch {
    return false;
  } finally {
    await removeFolder(trial);
  }
}
