import { expect, it } from "vitest";
import { welcome } from "./welcome.ts";

const URL = "http://127.0.0.1:8080";
const SERVING = { from: "sandbox", models: ["a"], routers: ["auto"], isOpen: true } as const;

it("says what is served and how to try it", () => {
  const text = welcome(URL, SERVING, undefined, "joust-data");
  expect(text).toContain("a sandbox of 1 simulated models: a");
  expect(text).toContain(`curl ${URL}/v1/chat/completions`);
});

it("says first of all that the configuration in the store cannot be served", () => {
  const invalid = {
    revision: 5,
    served: 4,
    problem: "routers.a.b: is not known",
    hint: "remove it",
  };
  const text = welcome(URL, { ...SERVING, invalid }, undefined, "joust-data");
  expect(text.split("\n")[0]).toContain("revision 5 of the configuration in the store cannot be");
  expect(text).toContain("routers.a.b: is not known\n  hint: remove it\n  revision 4 is served");
  expect(text).toContain(`${URL}/#/admin`);
  const none = welcome(URL, { ...SERVING, invalid: { ...invalid, served: 0 } }, undefined, "d");
  expect(none).toContain("no earlier revision can be served either");
  expect(none).not.toContain("sandbox");
});
