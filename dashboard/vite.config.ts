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

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), preloadFont],
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
