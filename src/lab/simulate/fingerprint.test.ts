import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { codeFingerprint } from "./fingerprint.ts";

const write = temporaryFolder();

it("changes with every file, its name and its place, and with no test", () => {
  const root = dirname(write("src/a.ts", "one"));
  write("src/deep/b.ts", "two");
  const first = codeFingerprint(root);
  expect(codeFingerprint(root)).toBe(first);
  write("src/a.test.ts", "a test");
  write("src/deep/b.fixture.ts", "a fixture");
  expect(codeFingerprint(root)).toBe(first);
  const seen = new Set([first]);
  const changes = [
    () => write("src/deep/b.ts", "2"),
    () => write("src/deep/b.ts", ""),
    () => write("src/c.ts", "2"),
    () => rmSync(`${root}/a.ts`),
    () => write("src/deep/a.ts", "one"),
  ];
  for (const change of changes) {
    change();
    seen.add(codeFingerprint(root));
  }
  expect(seen.size).toBe(6);
});

it("is of this program unless said", () => {
  expect(codeFingerprint()).toMatch(/^[0-9a-f]{64}$/);
  expect(codeFingerprint()).not.toBe(codeFingerprint(dirname(write("none/x.txt", ""))));
});
