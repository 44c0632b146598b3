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

/** A hash of the content in the name: what is under this name never changes. */
const hashedName = /-[\w-]{8,}\.[a-z0-9]+$/;

/** Addresses that the page itself reads. */
const pagePath = /^\/(?:s\/[^/]+(?:\/[^/]*)?|usage|health)?\/?$/;

const notBuilt =
  "The dashboard is not part of this installation. The HTTP API works all the same: see /openapi.json.\nIn a clone of the repository, `npm run build` builds it.\n";

/** Where the build puts the page. */
export function dashboardFolder(): string {
  return fileURLToPath(packageFile("dist/dashboard/"));
}

/** The files of the built page. Only what was there at the start is served, so no address leads anywhere else. */
export class DashboardFiles {
  readonly #folder: string;
  readonly #paths: ReadonlySet<string>;

  constructor(folder = dashboardFolder()) {
    this.#folder = folder;
    this.#paths = new Set(listFiles(folder));
  }

  /** Undefined: there is nothing under this address. */
  async answer(path: string): Promise<Response | undefined> {
    const file = this.#paths.has(path) ? path : pagePath.test(path) ? "/index.html" : undefined;
    if (file === undefined) return undefined;
    if (!this.#paths.has(file))
      return new Response(notBuilt, {
        status: 200,
        headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
      });
    const content = await readFile(join(this.#folder, file));
    const isHashed = file.startsWith("/assets/") && hashedName.test(file);
    return new Response(new Uint8Array(content), {
      headers: {
        "content-type": types[extname(file)] ?? "application/octet-stream",
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
