import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, problemOf, start, startServer, until } from "./support.ts";
import { reviewTeam } from "./teams.ts";

async function builtDashboard(): Promise<string> {
  const folder = await newFolder();
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>Maestro</title>");
  await writeFile(join(folder, "theme.js"), "1");
  await writeFile(join(folder, "assets/index-AbCd1234.js"), "export {}");
  await writeFile(join(folder, "assets/inter-latin-D_x9-Zq8.woff2"), "font");
  return folder;
}

test("the page is served for each of its addresses, its files by their type, hashed ones for ever", async () => {
  const server = await startServer({ dashboardFolder: await builtDashboard() });
  for (const path of ["/", "/s/parking-1", "/s/parking-1/run", "/usage", "/health", "/s/a%2Fb/stopped"]) {
    const response = await server.request(path);
    expect(response.status, `for ${path}`).toBe(200);
    expect(await response.text()).toContain("<title>Maestro</title>");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
  }
  const script = await server.request("/assets/index-AbCd1234.js");
  expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  const font = await server.request("/assets/inter-latin-D_x9-Zq8.woff2");
  expect(font.headers.get("content-type")).toBe("font/woff2");
  expect((await server.request("/theme.js")).headers.get("cache-control")).toBe("no-cache");
});

test("sends compressed files only to clients that accept the encoding", async () => {
  const folder = await builtDashboard();
  await writeFile(join(folder, "assets/index-AbCd1234.js.gz"), "gzipped");
  await writeFile(join(folder, "assets/index-AbCd1234.js.br"), "brotli");
  const server = await startServer({ dashboardFolder: folder });
  const ask = async (accepted: string) => {
    const response = await server.request("/assets/index-AbCd1234.js", {
      headers: { "accept-encoding": accepted },
    });
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("vary")).toBe("accept-encoding");
    return [response.headers.get("content-encoding"), await response.text()];
  };
  expect(await ask("gzip, deflate, br, zstd")).toEqual(["br", "brotli"]);
  expect(await ask("gzip;q=1.0, br;q=0")).toEqual(["gzip", "gzipped"]);
  expect(await ask("identity")).toEqual([null, "export {}"]);
  expect((await server.request("/assets/index-AbCd1234.js.br")).status).toBe(404);
});

test.each([
  "/assets/../../api-token",
  "/../api-token",
  "/%2e%2e/api-token",
  "/..%2fapi-token",
  "/assets/%2e%2e%2f%2e%2e%2fapi-token",
  "/assets\\..\\..\\api-token",
  "/index.html/../../api-token",
  "/assets/missing-12345678.js",
  "/.env",
  "/s/a/b/c",
  "//etc/passwd",
  "/assets/link-12345678.js",
])("%s leads nowhere", async (path) => {
  const folder = await builtDashboard();
  await symlink("/etc/hostname", join(folder, "assets/link-12345678.js"));
  const server = await startServer({ dashboardFolder: folder });
  const response = await server.request(path);
  // Some of them are other ways to write the page's own address.
  expect(await response.text()).toMatch(/<title>Maestro<\/title>|"code":"NOT_FOUND"/);
});

test("without a built page a short text says so, and the API works", async () => {
  const server = await startServer({ dashboardFolder: join(await newFolder(), "not-there") });
  const response = await server.request("/");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await response.text()).toContain("not part of this installation");
  expect((await server.request("/assets/index-AbCd1234.js")).status).toBe(404);
  expect((await server.request("/v1/sessions")).status).toBe(200);
});

test("files that personas made are downloads that no browser runs, and only their own session has them", async () => {
  const server = await startServer({ teams: [reviewTeam] });
  server.drive();
  const [one, other] = [
    await start(server, { team: "review", brief: "one" }),
    await start(server, { team: "review", brief: "other" }),
  ];
  await until(server, one.id, "parked");
  await until(server, other.id, "parked");
  const { artifacts } = await server.get<{ artifacts: { path: string; sha256: string }[] }>(
    `/v1/sessions/${one.id}`,
  );
  const page = artifacts.find(({ path }) => path === "page.html");
  const response = await server.request(`/v1/sessions/${one.id}/artifacts/${page?.sha256}`);
  expect(await response.text()).toBe("<script>alert(1)</script>");
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename="${page?.sha256}"`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  });
  const design = artifacts.find(({ path }) => path === "docs/design.md");
  const foreign = await server.request(`/v1/sessions/${other.id}/artifacts/${design?.sha256}`);
  expect(await problemOf(foreign)).toMatchObject({ status: 404, code: "NOT_FOUND" });
  for (const hash of ["0".repeat(64), "..", "%2e%2e%2fmaestro.db", page?.sha256.toUpperCase() ?? ""])
    expect((await server.request(`/v1/sessions/${one.id}/artifacts/${hash}`)).status, `for ${hash}`).toBe(
      404,
    );
});
