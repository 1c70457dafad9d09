import { expect, it } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { columnsOf, readCsv } from "./csv.ts";
import { temporaryFolder } from "./folder.fixture.ts";
import { InputError } from "./input-error.ts";

const write = temporaryFolder();

async function rows(path: string): Promise<[number, readonly string[]][]> {
  const out: [number, readonly string[]][] = [];
  for await (const { line, cells } of readCsv(path)) out.push([line, cells]);
  return out;
}

it("reads quoted cells and returns the line on which each row begins", async () => {
  const text = '\uFEFFa,b\r\n"x, ""y""",1\r\n\r\n"two\r\nlines",2\r\nlast,3';
  const expected = [
    [1, ["a", "b"]],
    [2, ['x, "y"', "1"]],
    [4, ["two\r\nlines", "2"]],
    [6, ["last", "3"]],
  ];
  expect(await rows(write("a.csv", text))).toEqual(expected);
  expect(await rows(write("a.csv.gz", text))).toEqual(expected);
});

it("reports the line of a wrong quote", async () => {
  const error = await rows(write("quote.csv", 'a,b\n1,2\n3,"4" 5\n')).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(InputError);
  expect(error).toMatchObject({ line: 3, message: expect.stringMatching(/is not csv/) });
});

it("reports errors of the file itself", async () => {
  await expect(rows("no-such.csv")).rejects.toThrow(InputError);
  await expect(rows(write("bad.csv", Buffer.from([0x1f, 0x8b, 1])))).rejects.toThrow(/gzip/);
});

it("stops reading when the caller stops", async () => {
  for await (const { cells } of readCsv(write("stop.csv", "a\nb\n"))) {
    expect(cells).toEqual(["a"]);
    break;
  }
});

it("finds columns by name and reports the missing one", () => {
  const header = { line: 1, cells: [" Cost", "model"] };
  expect(columnsOf("s.csv", header, ["model", "cost"])).toEqual({ model: 1, cost: 0 });
  expect(() => columnsOf("s.csv", header, ["model", "perf"])).toThrow(
    errorText(
      's.csv:1: field "perf": is not a column of the header,  Cost,model; hint: start the file with the line model,perf',
    ),
  );
  const semicolons = { line: 1, cells: ["model;cost"] };
  expect(() => columnsOf("s.csv", semicolons, ["model", "cost"])).toThrow(
    errorText("header, model;cost; hint: separate cells with commas"),
  );
});
