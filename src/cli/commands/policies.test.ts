import { expect, it, vi } from "vitest";
import { POLICIES } from "../../core/bandit/policies/index.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { policiesCommand } from "./policies.ts";

type Options = Record<string, { default: number; min?: number; max?: number }>;

it("lists every option with default, meaning and range, in at most 96 columns", async () => {
  const text = await printed();
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(96);
  const flat = text.replaceAll(/\s+/g, " ");
  for (const { defaults, about } of POLICIES) {
    for (const [key, value] of Object.entries(defaults)) {
      expect(flat).toContain(` ${key}=${value} ${about![key]!.meaning}`);
    }
  }
  expect(flat).toContain(" explore=0 probability of a uniformly random pair (from 0 to 1)");
});

it("describes the named policies, by name or by file", async () => {
  expect(await printed("eagle,greedy")).toMatch(/^eagle: .*\ngreedy: .*\nOptions of every policy/s);
  expect(await printed("eagle")).toMatch(/^eagle: .*\n {2}after .*\n.*\nOptions of every policy/s);
  expect(await printed("examples/mine.ts")).toContain("\n  patience=10");
  await expect(printed("eagel")).rejects.toThrow(errorText('did you mean "eagle"?'));
});

it("prints the same as JSON", async () => {
  const { policies, router } = JSON.parse(await printed("--json")) as {
    policies: { name: string; options: Options }[];
    router: Options;
  };
  expect(policies.map(({ name }) => name)).toEqual(POLICIES.map(({ name }) => name));
  const eagle = policies.find(({ name }) => name === "eagle")!;
  expect(eagle.options.P).toMatchObject({ default: 0.2, min: 0, max: 1 });
  expect(router.explore).toMatchObject({ default: 0, min: 0, max: 1 });
});

async function printed(...args: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await policiesCommand().parseAsync(args, { from: "user" });
    return write.mock.calls.map(([text]) => String(text)).join("");
  } finally {
    write.mockRestore();
  }
}
