import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { CodeHashes } from "./code.ts";

let folder: string;
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const hash = (name = "a.ts") => new CodeHashes().of([pathToFileURL(join(folder, name))]);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "joust-code-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  write("a.ts", 'import { b } from "./b.ts";\nimport type { T } from "./types.ts";\nb();\n');
  write(
    "b.ts",
    'import {\n  c,\n  type D,\n} from "./c.ts";\nnew Worker(new URL("./d.ts", import.meta.url));\nexport const b = c;\n',
  );
  for (const name of ["c.ts", "d.ts", "types.ts", "other.ts"]) write(name, "export const n = 1;\n");
});

it("covers a module and everything that it imports at run time, and nothing else", () => {
  const before = hash();
  for (const name of ["types.ts", "other.ts"]) write(name, "export const n = 2;\n");
  expect(hash()).toBe(before);
  for (const name of ["c.ts", "d.ts"]) {
    write(name, "export const n = 2;\n");
    expect(hash(), name).not.toBe(before);
    write(name, "export const n = 1;\n");
    expect(hash(), name).toBe(before);
  }
});

it("ignores comments, types and formatting", () => {
  const before = hash();
  write(
    "b.ts",
    `/** A comment. */
import { c } from "./c.ts"; // another
new Worker(
  new URL("./d.ts", import.meta.url), /* a third */
);
export const b: () => void = c as () => void;
`,
  );
  write("c.ts", "export const n: number =\n  1;\n");
  // An import of a type alone leaves nothing to run.
  expect(hash()).toBe(before);
});

it("ignores comments and formatting of JavaScript, which the published package runs", () => {
  write("a.js", 'import { c } from "./b.js";\nexport const a = { c, d: 1 };\n');
  write("b.js", "export const c = 1;\n");
  const before = hash("a.js");
  write(
    "a.js",
    '// A comment.\nimport { c } from "./b.js";\nexport const a = {\n  c,\n  d: 1,\n};\n',
  );
  expect(hash("a.js")).toBe(before);
  write("b.js", "export const c = 2;\n");
  expect(hash("a.js")).not.toBe(before);
});

it("ignores where files are, but not which file is imported", () => {
  const before = hash();
  write("moved.ts", "export const n = 1;\n");
  write(
    "b.ts",
    'import { c } from "./moved.ts";\nnew Worker(new URL("./d.ts", import.meta.url));\nexport const b = c;\n',
  );
  expect(hash()).toBe(before);
  write("moved.ts", "export const n = 3;\n");
  expect(hash()).not.toBe(before);
});

it("follows modules that import each other", () => {
  write("x.ts", 'import { y } from "./y.ts";\nexport const x = () => y;\n');
  write("y.ts", 'import { x } from "./x.ts";\nexport const y = () => x;\n');
  const [x, y] = [hash("x.ts"), hash("y.ts")];
  write("y.ts", 'import { x } from "./x.ts";\nexport const y = () => [x];\n');
  expect(hash("x.ts")).not.toBe(x);
  expect(hash("y.ts")).not.toBe(y);
});

it("follows an import of joust into this program", () => {
  write("policy.mjs", 'import { argmax } from "joust";\nexport default argmax;\n');
  const module = pathToFileURL(join(folder, "policy.mjs"));
  const files = new CodeHashes().filesOf([module]);
  expect(files.some((file) => file.endsWith("/core/router.ts"))).toBe(true);
});
