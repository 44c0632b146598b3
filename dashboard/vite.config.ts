import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The font is asked for with the page, not after the style sheet: text appears once, in its final shape. */
const preloadFont: Plugin = {
  name: "preload-font",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle }) =>
      Object.keys(bundle ?? {})
        .filter((file) => file.endsWith(".woff2"))
        .map((file) => ({
          tag: "link",
          attrs: { rel: "preload", as: "font", type: "font/woff2", crossorigin: true, href: `/${file}` },
          injectTo: "head",
        })),
  },
};

/** Compressed once, here: the server only chooses. Fonts and pictures are compressed already. */
const compress: Plugin = {
  name: "compress",
  apply: "build",
  writeBundle: ({ dir = "" }) => {
    for (const file of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
      if (!/\.(?:js|css|html|svg|json)$/.test(file)) continue;
      const content = readFileSync(join(dir, file));
      writeFileSync(join(dir, `${file}.gz`), gzipSync(content, { level: 9 }));
      writeFileSync(join(dir, `${file}.br`), brotliCompressSync(content));
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), preloadFont, compress],
  build: {
    outDir: "../dist/dashboard",
    emptyOutDir: true,
    target: "es2023",
    // Nothing is inlined: the page's policy allows no data: but for images, and its own files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Two files for the first page instead of fifteen small ones; what only some pages need stays apart.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules\/(?:react|react-dom|scheduler)\// },
            {
              name: "shared",
              test: /src\/(?:api|format|live|sentences|status|ui|url|keys)\/|@tanstack|wouter/,
            },
          ],
        },
      },
    },
  },
  worker: { format: "es" },
});
