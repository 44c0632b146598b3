import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { type FileNumber, type Operation, type Recording, rootFolder } from "./operation.ts";

/** Calls that change a disk. One that the recorder cannot follow ends the recording: nothing is missed in silence. */
const changing =
  "write pwrite64 writev pwritev ftruncate fallocate fsync fdatasync sync_file_range copy_file_range sendfile truncate " +
  "rename renameat renameat2 unlink unlinkat mkdir mkdirat rmdir link linkat symlink symlinkat";
const calls = [...changing.split(" "), "open", "openat", "close", "dup", "dup2", "dup3"];

export const canRecord = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "true"]).status === 0;

interface Recorded {
  /** The folder on the disk that loses its power; created here. */
  readonly disk: string;
  /** Lines in this file acknowledge something to the outside. */
  readonly acknowledged: string;
  readonly trace: string;
}

/** Runs a program to its end under strace and reads from the trace what it did to the disk. */
export function record(command: readonly [string, ...string[]], place: Recorded): Recording {
  mkdirSync(place.disk, { recursive: true });
  const strace = [
    "-f",
    "-qq",
    "-xx",
    "-s",
    String(2 ** 24),
    "-o",
    place.trace,
    "-e",
    `trace=${calls.join(",")}`,
  ];
  const { status, stderr } = spawnSync("strace", [...strace, ...command], {
    encoding: "utf8",
    // Operations in a ring of the kernel are no calls, and would not be in the trace.
    env: { ...process.env, UV_USE_IO_URING: "0" },
  });
  if (status !== 0) throw new Error(`the recorded program ended with ${status}: ${stderr}`);
  const reader = new TraceReader(place);
  for (const line of readFileSync(place.trace, "latin1").split("\n")) reader.read(line);
  return reader.recording;
}

interface OpenFile {
  readonly file: FileNumber | "acknowledged";
  readonly path: string;
  readonly appends: boolean;
  position: number;
}

interface Call {
  readonly name: string;
  readonly text: string;
  /** How many operations had happened when it began. */
  readonly begunAt: number;
}

class TraceReader {
  readonly #place: Recorded;
  readonly #operations: Operation[] = [];
  readonly #names = new Map<FileNumber, Map<string, FileNumber>>([[rootFolder, new Map()]]);
  readonly #sizes = new Map<FileNumber, number>();
  readonly #open = new Map<number, OpenFile>();
  readonly #unfinished = new Map<string, Call>();
  #files = 0;

  constructor(place: Recorded) {
    this.#place = place;
  }

  get recording(): Recording {
    return { operations: this.#operations, folders: new Set(this.#names.keys()) };
  }

  /** A call of one thread may be on two lines, with calls of other threads between them. */
  read(line: string): void {
    const [, thread = "", rest = ""] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(rest);
    const before = this.#unfinished.get(thread);
    if (resumed !== null && before !== undefined) {
      this.#unfinished.delete(thread);
      return this.#returned({ ...before, text: before.text + (resumed[1] ?? "") });
    }
    const [, name = ""] = /^(\w+)\(/.exec(rest) ?? [];
    if (name === "") return;
    const call = { name, text: rest.slice(name.length + 1), begunAt: this.#operations.length };
    this.#begins(call);
    const cut = / <unfinished \.\.\.>$/.exec(rest);
    if (cut === null) this.#returned(call);
    else this.#unfinished.set(thread, { ...call, text: call.text.slice(0, -cut[0].length) });
  }

  /** Effects of a call from its beginning: a descriptor is free, and an acknowledgement may have been seen. */
  #begins({ name, text }: Call): void {
    const descriptor = Number.parseInt(text, 10);
    if (name === "close") this.#open.delete(descriptor);
    if (name !== "write" || this.#open.get(descriptor)?.file !== "acknowledged") return;
    for (const label of stringsOf(text).join("").trim().split("\n"))
      this.#operations.push({ kind: "acknowledge", label });
  }

  #returned({ name, text, begunAt }: Call): void {
    const result = Number(/\)\s+= (-?\d+)[^=]*$/.exec(text)?.[1] ?? Number.NaN);
    if (!(result >= 0)) return;
    const strings = stringsOf(text);
    const numbers = numbersOf(text);
    const [path = "", other = ""] = strings;
    switch (name) {
      case "open":
      case "openat":
        return this.#opened(path, text, result);
      case "mkdir":
        return this.#inside(path) ? this.#create(path, new Map()) : undefined;
      case "unlink":
      case "rmdir":
        return this.#inside(path) ? this.#rename(path, undefined) : undefined;
      case "rename":
        return this.#inside(path) || this.#inside(other) ? this.#rename(path, other) : undefined;
      case "close":
        return undefined;
    }
    const [descriptor = -1] = numbers;
    const open = this.#open.get(descriptor);
    if (open === undefined) {
      // Another way of the same change would go unseen.
      if (strings.some((each) => this.#inside(each))) throw new Error(`not followed: ${name} of ${path}`);
      return undefined;
    }
    const { file } = open;
    if (file === "acknowledged") return undefined;
    if (name === "fsync" || name === "fdatasync")
      return void this.#operations.push({ kind: "sync", file, covers: begunAt, path: open.path });
    if (name === "ftruncate") return this.#truncate(file, numbers.at(-2) ?? 0);
    if (name !== "write" && name !== "pwrite64") throw new Error(`not followed: ${name} of ${open.path}`);
    const bytes = Buffer.from(strings.join(""), "latin1");
    if (bytes.length < result) throw new Error(`the trace has ${bytes.length} of ${result} bytes`);
    this.#write(open, bytes.subarray(0, result), name === "pwrite64" ? numbers.at(-2) : undefined);
  }

  #opened(path: string, flags: string, descriptor: number): void {
    this.#open.delete(descriptor);
    const appends = flags.includes("O_APPEND");
    if (path === this.#place.acknowledged) {
      this.#open.set(descriptor, { file: "acknowledged", path, appends, position: 0 });
      return;
    }
    // The shared memory of SQLite is mapped and of no use after a power cut.
    if (!this.#inside(path) || path.endsWith("-shm")) return;
    if (this.#find(path) === undefined) this.#create(path, undefined);
    const file = this.#find(path) as FileNumber;
    if (flags.includes("O_TRUNC") && (this.#sizes.get(file) ?? 0) > 0) this.#truncate(file, 0);
    this.#open.set(descriptor, { file, path, appends, position: 0 });
  }

  #write(open: OpenFile, bytes: Buffer, offset: number | undefined): void {
    const file = open.file as FileNumber;
    const size = this.#sizes.get(file) ?? 0;
    const at = offset ?? (open.appends ? size : open.position);
    if (offset === undefined) open.position = at + bytes.length;
    this.#sizes.set(file, Math.max(size, at + bytes.length));
    this.#operations.push({ kind: "write", file, at, bytes });
  }

  #truncate(file: FileNumber, size: number): void {
    this.#sizes.set(file, size);
    this.#operations.push({ kind: "truncate", file, size });
  }

  #create(path: string, entries: Map<string, FileNumber> | undefined): void {
    this.#files += 1;
    const file = this.#files;
    if (entries !== undefined) this.#names.set(file, entries);
    this.#name(path, [[basename(path), file]]);
  }

  #rename(from: string, to: string | undefined): void {
    const file = this.#find(from);
    // The shared memory of SQLite is not recorded.
    if (file === undefined) return;
    if (to !== undefined && dirname(to) !== dirname(from)) throw new Error(`not followed: ${from} to ${to}`);
    const change: [string, FileNumber | undefined][] = [[basename(from), undefined]];
    this.#name(from, to === undefined ? change : [...change, [basename(to), file]]);
  }

  #name(path: string, changes: readonly (readonly [string, FileNumber | undefined])[]): void {
    const folder = this.#find(dirname(path));
    const entries = folder === undefined ? undefined : this.#names.get(folder);
    if (folder === undefined || entries === undefined) throw new Error(`no folder for ${path}`);
    for (const [name, file] of changes) {
      if (file === undefined) entries.delete(name);
      else entries.set(name, file);
    }
    this.#operations.push({ kind: "name", folder, changes: changes.map(([name, file]) => ({ name, file })) });
  }

  #inside(path: string): boolean {
    return path === this.#place.disk || path.startsWith(`${this.#place.disk}/`);
  }

  #find(path: string): FileNumber | undefined {
    let found: FileNumber | undefined = rootFolder;
    for (const name of relative(this.#place.disk, join(path)).split("/").filter(Boolean))
      found = found === undefined ? undefined : this.#names.get(found)?.get(name);
    return found;
  }
}

/** The trace has every byte of a string in hexadecimal. */
function stringsOf(text: string): string[] {
  return [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = ""]) =>
    Buffer.from(hex.replaceAll("\\x", ""), "hex").toString("latin1"),
  );
}

/** Arguments and result that are numbers; the first is the descriptor, the last the result. */
const numbersOf = (text: string): number[] =>
  [...text.replaceAll(/"[^"]*"/g, "").matchAll(/-?\b\d+\b/g)].map(([number]) => Number(number));
