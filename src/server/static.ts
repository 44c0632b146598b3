import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFile } from "../package-files.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

/** The name contains a hash of the content, so the file never changes. */
const hashedName = /-[\w-]{8,}\.[a-z0-9]+$/;

/** Addresses that the page itself routes. */
const pagePath = /^\/(?:s\/[^/]+(?:\/[^/]*)?|usage|health)?\/?$/;

/** The encodings made by the build, smallest first. */
const codings = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
] as const;

const isCompressed = (path: string): boolean => codings.some(({ ending }) => path.endsWith(ending));

/** `br;q=0` rejects it. */
const accepts = (header: string, name: string): boolean =>
  header.split(",").some((part) => {
    const [coding = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    return coding === name && !parameters.some((each) => /^q=0(?:\.0*)?$/.test(each));
  });

const notBuilt =
  "The dashboard is not part of this installation. The HTTP API works all the same: see /openapi.json.\nIn a clone of the repository, `npm run build` builds it.\n";

/** The folder of the built page. */
export function dashboardFolder(): string {
  return fileURLToPath(packageFile("dist/dashboard/"));
}

/** The files of the built page, listed at the start so that no address leads out of the folder. */
export class DashboardFiles {
  readonly #folder: string;
  readonly #paths: ReadonlySet<string>;

  constructor(folder = dashboardFolder()) {
    this.#folder = folder;
    this.#paths = new Set(listFiles(folder));
  }

  /** Undefined if there is no such file. */
  async answer(path: string, acceptEncoding = ""): Promise<Response | undefined> {
    const isThere = this.#paths.has(path) && !isCompressed(path);
    const file = isThere ? path : pagePath.test(path) ? "/index.html" : undefined;
    if (file === undefined) return undefined;
    if (!this.#paths.has(file))
      return new Response(notBuilt, {
        status: 200,
        headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
      });
    const coding = codings.find(
      ({ name, ending }) => accepts(acceptEncoding, name) && this.#paths.has(file + ending),
    );
    const content = await readFile(join(this.#folder, file + (coding?.ending ?? "")));
    const isHashed = file.startsWith("/assets/") && hashedName.test(file);
    return new Response(new Uint8Array(content), {
      headers: {
        "content-type": types[extname(file)] ?? "application/octet-stream",
        vary: "accept-encoding",
        ...(coding !== undefined && { "content-encoding": coding.name }),
        "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
      },
    });
  }
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `/${relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/")}`);
  } catch {
    return [];
  }
}
