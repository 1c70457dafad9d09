import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import tailwind from "@tailwindcss/vite";
import { defineConfig, type Plugin } from "vite";

/** Gateway of the development server. It refuses a page whose origin is not the host of the request. */
const GATEWAY = { target: process.env.JOUST_URL ?? "http://127.0.0.1:8080", changeOrigin: false };

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwind(), suggestions(), modernFonts()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    // The Content-Security-Policy allows only scripts and styles that are files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" }, // licences of the packages that the page contains
    chunkSizeWarningLimit: 700, // kB; only ECharts, which is loaded with the first chart, is larger than the default
  },
  server: { proxy: { "/v1": GATEWAY, "/readyz": GATEWAY, "/openapi.json": GATEWAY } },
});

/** Provides the bundled questions, without their answers, as suggestions for the arena. */
function suggestions(): Plugin {
  const name = "virtual:suggestions";
  return {
    name,
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      const file = resolve(import.meta.dirname, "../data/queries.jsonl");
      this.addWatchFile(file);
      const lines = readFileSync(file, "utf8").trim().split("\n");
      const questions = lines.map((line) => {
        const { category, query } = JSON.parse(line) as { category: string; query: string };
        return { category, query };
      });
      return `export default ${JSON.stringify(questions)};`;
    },
  };
}

/** Leaves out the fonts of KaTeX for browsers that cannot read woff2. */
function modernFonts(): Plugin {
  return {
    name: "modern-fonts",
    enforce: "pre",
    transform: (code, id) =>
      /katex.*\.css$/.test(id)
        ? code.replace(/,url\([^)]+\.(?:woff|ttf)\) format\("[^"]+"\)/g, "")
        : undefined,
  };
}
