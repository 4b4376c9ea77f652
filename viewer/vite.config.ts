import { defineConfig } from "vite";

// Paths are relative because the page is served under a prefix that changes with every run. Nothing is inlined, since
// the server's policy allows neither inline scripts nor scripts from data URLs.
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
