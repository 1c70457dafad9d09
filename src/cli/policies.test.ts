import { expect, it, vi } from "vitest";
import { POLICIES } from "../bandit/policies/index.ts";
import { invocationOf } from "./invocation.ts";
import { policiesCommand } from "./policies.ts";

type Options = Record<string, { default: number; min?: number; max?: number }>;

it("lists every option with its default, meaning and values, in at most 96 columns", () => {
  const text = printed();
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(96);
  const flat = text.replaceAll(/\s+/g, " ");
  for (const { defaults, about } of POLICIES) {
    for (const [key, value] of Object.entries(defaults)) {
      expect(flat).toContain(` ${key}=${value} ${about![key]!.meaning}`);
    }
  }
  expect(flat).toContain(" explore=0 probability of a uniform pair (from 0 to 1)");
});

it("gives the same as data", () => {
  const { policies, router } = JSON.parse(printed("--json")) as {
    policies: { name: string; options: Options }[];
    router: Options;
  };
  expect(policies.map(({ name }) => name)).toEqual(POLICIES.map(({ name }) => name));
  const eagle = policies.find(({ name }) => name === "eagle")!;
  expect(eagle.options.P).toMatchObject({ default: 0.2, min: 0, max: 1 });
  expect(router.explore).toMatchObject({ default: 0, min: 0, max: 1 });
});

it("knows how it is called: in a checkout by npm, installed by its name", () => {
  expect(invocationOf("file:///home/me/joust/src/cli/x.ts")).toBe("npm run -s joust --");
  expect(invocationOf("file:///home/me/node_modules/joust/src/cli/x.ts")).toBe("joust");
});

function printed(...args: string[]): string {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    policiesCommand().parse(args, { from: "user" });
    return write.mock.calls.map(([text]) => String(text)).join("");
  } finally {
    write.mockRestore();
  }
}
