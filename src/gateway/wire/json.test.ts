import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editObject, JsonError, scanObject, scanRequest } from "./json.ts";

const bytes = (text: string) => Buffer.from(text);
const edit = (text: string, edits: Parameters<typeof editObject>[1]) =>
  Buffer.from(editObject(bytes(text), edits)).toString();

it("refuses more values than a request needs", () => {
  const list = (count: number) => Buffer.from(`{"list":[${"0,".repeat(count - 2)}0]}`);
  expect(() => scanRequest(list(500_000))).not.toThrow();
  expect(() => scanRequest(list(500_001))).toThrow(
    "the JSON is invalid at byte 1000007: more than 500000 values",
  );
  expect(() => scanObject(list(500_001))).not.toThrow();
});

describe("editObject", () => {
  const request = { set: { model: '"x"' }, drop: ["joust"] };

  it.each([
    ['{"model":"auto"}', '{"model":"x"}'],
    [' {\n "model" :\t"auto" , "n":1}\r\n', ' {\n "model" :\t"x" , "n":1}\r\n'],
    ['{"a":1,"joust":{"duel":true},"model":"auto"}', '{"a":1,"model":"x"}'],
    ['{"joust":{},"model":"auto"}', '{"model":"x"}'],
    ['{ "joust":{} , "model":"auto" }', '{ "model":"x" }'],
    ['{"model":"auto", "joust":{} }', '{"model":"x" }'],
    ['{"model":"a","joust":1,"joust":2,"b":3}', '{"model":"x","b":3}'],
    ['{"joust":1,"joust":2,"model":"a"}', '{"model":"x"}'],
    ['{"joust":1,"model":"a","joust":2}', '{"model":"x"}'],
    ['{"model":"a","model":"b"}', '{"model":"x","model":"x"}'],
    ['{"mod\\u0065l":"a","jous\\u0074":1}', '{"mod\\u0065l":"x"}'],
    ['{"\\"model\\"":1,"model":"a"}', '{"\\"model\\"":1,"model":"x"}'],
    ['{"a":{"model":"a","joust":1},"model":"b"}', '{"a":{"model":"a","joust":1},"model":"x"}'],
    ['{"a":"\\"model\\":\\"q\\"}","model":null}', '{"a":"\\"model\\":\\"q\\"}","model":"x"}'],
    [
      '{"b":12345678901234567890,"c":1.0E+2,"model":0}',
      '{"b":12345678901234567890,"c":1.0E+2,"model":"x"}',
    ],
    ["{}", '{"model":"x"}'],
    ["{ }", '{"model":"x" }'],
    ['{"joust":1}', '{"model":"x"}'],
    ['{"a":1,"joust":2}', '{"a":1,"model":"x"}'],
    ['{"a":1 ,"joust":2\n}', '{"a":1,"model":"x"\n}'],
  ])("%s becomes %s", (before, after) => {
    expect(edit(before, request)).toBe(after);
  });

  it("returns the same bytes if nothing is to be changed", () => {
    const text = '{ "é\\u00e9" : [ -0.0 , "\u2028😀" ] }\n';
    expect(edit(text, {})).toBe(text);
    expect(edit(text, { drop: ["joust"] })).toBe(text);
  });

  it("keeps bytes that are not UTF-8", () => {
    const odd = Buffer.from([...bytes('{"a":"'), 0xff, 0xc0, ...bytes('","model":"m"}')]);
    const edited = editObject(odd, request);
    expect(edited).toEqual(
      Buffer.from([...bytes('{"a":"'), 0xff, 0xc0, ...bytes('","model":"x"}')]),
    );
  });

  it("has the same result as editing the parsed object and keeps the bytes of all other members", () => {
    const names = fc.constantFrom("model", "joust", "a", "b", "mod\\u0065l", "ключ", "");
    const blank = fc.stringMatching(/^[ \t\n\r]{0,2}$/);
    const value = fc.json({ maxDepth: 3 });
    const member = fc.tuple(blank, names, blank, blank, value, blank);
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), blank, (members, end) => {
        const inside = members.map(
          ([a, name, b, c, text, d]) => [name, `${a}"${name}"${b}:${c}${text}${d}`] as const,
        );
        const before = `{${inside.map(([, text]) => text).join(",")}${end}}`;
        const after = edit(before, request);
        const { joust: _, ...rest } = JSON.parse(before);
        expect(JSON.parse(after)).toEqual({ ...rest, model: "x" });
        const kept = inside.filter(([name]) => !/^(mod.*|joust)$/.test(name));
        let from = 0;
        for (const [, text] of kept) {
          from = after.indexOf(text.trim(), from) + text.trim().length;
          expect(from).toBeGreaterThanOrEqual(text.trim().length);
        }
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});

describe("scanObject", () => {
  const accepts = (text: string) => {
    try {
      scanObject(bytes(text));
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(JsonError);
      return false;
    }
  };
  const parses = (text: string) => {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === "object" && value !== null && !Array.isArray(value);
    } catch {
      return false;
    }
  };

  it.each([
    "",
    " ",
    "{",
    "}",
    "[]",
    "null",
    '"a"',
    "{}",
    "{} {}",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{,}",
    '{"a":01}',
    '{"a":-}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":1e}',
    '{"a":1e+}',
    '{"a":-0e-1}',
    '{"a":+1}',
    '{"a":tru}',
    '{"a":true}',
    '{"a":NaN}',
    '{"a":"\t"}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":"\\u12G4"}',
    '{"a":"\\u12aF"}',
    '{"a":"\\',
    '{"a":"\\u1',
    "{a:1}",
    "{'a':1}",
    "\ufeff{}",
    '{"a":[1,2,]}',
    '{"a":[1 2]}',
    '{"a":[',
    '{"a":[}]}',
    '{"a":1}//',
    '{"a":"\u007f\u2028"}',
    '{"a":{"b":[{"c":[]}]}}',
    '{"a":1',
    '{"a":1.5e3',
    '{"a":12',
    '{"a":nul',
  ])("accepts %j exactly if JSON.parse does", (text) => {
    expect(accepts(text)).toBe(parses(text));
  });

  it("accepts what JSON.parse accepts, also after a byte was changed, removed or doubled", () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\0-1.eEu+tn\n '), fc.nat(3));
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
        change,
        (value, [at, letter, kind]) => {
          const text = JSON.stringify(value);
          expect(accepts(text)).toBe(true);
          const i = at % text.length;
          const middle = ["", letter, text[i]! + letter, text[i]!.repeat(2)][kind]!;
          const changed = text.slice(0, i) + middle + text.slice(i + 1);
          expect(accepts(changed)).toBe(parses(changed));
        },
      ),
      { seed: 1, numRuns: 800 },
    );
  });

  it("limits the depth, so that no input can exhaust the stack", () => {
    const nested = (n: number) => `${'{"a":'.repeat(n)}1${"}".repeat(n)}`;
    const list = (n: number) => `{"a":${"[".repeat(n)}1${"]".repeat(n)}}`;
    expect([accepts(nested(128)), accepts(nested(129))]).toEqual([true, false]);
    expect([accepts(list(127)), accepts(list(128))]).toEqual([true, false]);
    expect(accepts(`{"a":${"[".repeat(1e6)}`)).toBe(false);
  });

  it("finds the last member of a name and its value", () => {
    const members = scanObject(bytes('{"a":1,"b":{"a":9},"\\u0061":[2, "x"]}'));
    expect(members.value("a")).toEqual([2, "x"]);
    expect(members.value("b")).toEqual({ a: 9 });
    expect(members.find("c")).toBeUndefined();
  });

  it.each([
    ["[]", "0: expected an object"],
    ["{bad", "1: expected a key in double quotes"],
    ['{"a"}', "4: expected a colon"],
    ['{"é":tru}', "6: expected a value"],
    ['{"a":1 2}', "7: expected a comma or }"],
    ['{"a":[1 2]}', "8: expected a comma or ]"],
    ['{"a":1', "6: unexpected end"],
    ['{"a":"b', "7: unexpected end of a string"],
    ['{"a":"\n"}', "6: unescaped control character"],
    ['{"a":"\\x"}', "6: unknown escape"],
    ['{"a":"\\u12g4"}', "6: expected four hexadecimal digits after \\u"],
    ["{} {}", "3: unexpected text after the object"],
    ['{"a":'.repeat(129), "640: more than 128 levels of nesting"],
  ])("says where %s is invalid and why", (text, error) => {
    expect(() => scanObject(bytes(text))).toThrow(`the JSON is invalid at byte ${error}`);
  });
});
