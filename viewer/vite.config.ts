import { defineConfig } from "vite";

// Paths are relative: the page is served under a prefix that is new in every run. Nothing is inlined, since
// the server's policy allows neither inline scripts nor data addresses for them.
export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1024,
    rolldownOptions: { input: ["index.html", "gallery.html"] },
  },
});
