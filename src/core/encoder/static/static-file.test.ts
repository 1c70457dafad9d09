import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../input/folder.fixture.ts";
import { InputError } from "../../input/input-error.ts";
import { readStaticFile, writeStaticFile } from "./static-file.ts";
import { smallTable } from "./static-table.fixture.ts";

const write = temporaryFolder();

async function written(dimension?: number): Promise<string> {
  const file = write("table.bin", "");
  await writeStaticFile(file, smallTable(dimension));
  return file;
}

it("reads what was written, for any length of the header", async () => {
  for (const dimension of [1, 7, 10, 100]) {
    const { table } = await readStaticFile(await written(dimension));
    expect(table).toEqual(smallTable(dimension));
  }
});

it("has the same checksum only for the same table", async () => {
  const { sha256 } = await readStaticFile(await written());
  expect(await writeStaticFile(write("again.bin", ""), smallTable())).toBe(sha256);
  expect(await writeStaticFile(write("other.bin", ""), smallTable(6, 2))).not.toBe(sha256);
});

it("starts with a line that describes it", async () => {
  const line = readFileSync(await written(), "utf8").split("\n")[0]!;
  expect(JSON.parse(line)).toMatchObject({ format: "joust static encoder", dimension: 6 });
  expect((line.length + 1) % 8).toBe(0);
});

it("rejects truncated, changed and other files, and says why", async () => {
  const bytes = readFileSync(await written());
  const text = bytes.toString("latin1");
  const bad: [string | Uint8Array, RegExp][] = [
    ["", /is not a static encoder/],
    ["PK\u0003\u0004 whatever\n", /is not a static encoder/],
    ['{"format"', /is not a static encoder/],
    ['{"format": \n', /is not JSON/],
    ['{"format":"another"}\n', /field "format"/],
    [Buffer.from(text.replace('"version":1', '"version":2'), "latin1"), /field "version"/],
    [bytes.subarray(0, -1), /bytes after its header/],
    [Buffer.from([...bytes.subarray(0, -1), 1]), /checksum/],
    [Buffer.from(text.replace('"dimension":6', '"dimension":7'), "latin1"), /scales and rows/],
    [Buffer.from(text.replace('"unknown":0', '"unknown":99'), "latin1"), /special tokens/],
  ];
  for (const [content, message] of bad) {
    const reading = readStaticFile(write("bad.bin", content));
    await expect(reading).rejects.toThrow(InputError);
    await expect(reading).rejects.toThrow(message);
  }
  await expect(readStaticFile("no-such.bin")).rejects.toThrow(/does not exist/);
});

it("does not write tokens that it could not read", async () => {
  const table = smallTable();
  const tokenizer = { ...table.tokenizer, tokens: ["a\nb", ...table.tokenizer.tokens.slice(1)] };
  await expect(writeStaticFile(write("x.bin", ""), { ...table, tokenizer })).rejects.toThrow(
    /line break/,
  );
});
