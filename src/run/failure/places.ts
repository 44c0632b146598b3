export interface Place {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

const foreign = /^node:|[\\/]node_modules[\\/]|^node_modules[\\/]|^<|^internal[\\/]|^\[eval/;

/** "path:12:5" or "path:12"; a file URL becomes its path. */
export function readPlace(text: string): Place | undefined {
  const found = /^(.+?):(\d{1,9})(?::(\d{1,9}))?$/.exec(text.trim());
  if (found === null) return undefined;
  const file = pathOf(found[1] ?? "");
  return { file, line: Number(found[2]), column: found[3] === undefined ? undefined : Number(found[3]) };
}

/** The place of a stack frame: "at f (path:1:2)", "at path:1:2", "❯ f path:1:2". */
function readFrame(line: string): Place | undefined {
  const text = line.trim();
  if (text.startsWith("❯ ")) return readPlace(text.slice(text.lastIndexOf(" ") + 1));
  if (!text.startsWith("at ")) return undefined;
  const open = text.lastIndexOf("(");
  if (open !== -1 && text.endsWith(")")) return readPlace(text.slice(open + 1, -1));
  return readPlace(text.slice(3).replace(/^async /, ""));
}

/** The first frame in the project's own code: not the runtime's, not a dependency's. */
export function findFrame(lines: readonly string[]): Place | undefined {
  for (const line of lines) {
    const place = readFrame(line);
    if (place !== undefined && !foreign.test(place.file)) return place;
  }
  return undefined;
}

export const isForeign = (file: string): boolean => foreign.test(file);

/** The shorter of two names of one file: what the runner called it, when the frame's path ends so. */
export function preferShort(place: Place, file: string | undefined): Place {
  const same = file !== undefined && (place.file === file || place.file.endsWith(`/${file}`));
  return same ? { ...place, file } : place;
}

function pathOf(text: string): string {
  if (!text.startsWith("file://")) return text;
  const path = text.slice("file://".length);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** "TypeError [CODE]: message" or "module.Error: message". */
export function readErrorLine(line: string): { name: string; code: string | undefined; message: string } {
  const found = /^(?:Uncaught )?([A-Za-z_$][\w$.]{0,100})(?: \[([\w.]{1,60})\])?: ?(.*)$/.exec(line.trim());
  const name = found?.[1] ?? "";
  if (found === null || !/(?:Error|Exception|Warning|Interrupt|Exit|Group|^Failed)$/.test(name)) {
    return { name: "", code: undefined, message: line.trim() };
  }
  return { name, code: found[2], message: found[3] ?? "" };
}
