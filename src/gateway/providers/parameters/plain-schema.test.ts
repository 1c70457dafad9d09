import { expect, it } from "vitest";
import { StandingClock } from "../../clock/clock.fixture.ts";
import { scanObject } from "../../wire/json.ts";
import { classifyRefusal } from "../upstream/refusal.ts";
import { plainSchema } from "./plain-schema.ts";
import { ParameterProfile } from "./profile.ts";

/** A schema with members that tools of Claude Code have. */
const SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    const: { type: "string", const: "a" },
    names: { type: "object", propertyNames: { type: "string" }, additionalProperties: {} },
    count: { type: ["integer", "null"], exclusiveMinimum: 0, maximum: 9 },
    list: { type: "array", items: { oneOf: [{ const: "b" }, { type: "number", default: 1 }] } },
  },
  required: ["const"],
  additionalProperties: false,
};

it("keeps names of properties, and drops members that the form does not know", () => {
  expect(plainSchema(SCHEMA)).toEqual({
    type: "object",
    properties: {
      const: { type: "string", enum: ["a"] },
      names: { type: "object" },
      count: { type: "integer", nullable: true, maximum: 9 },
      list: { type: "array", items: { anyOf: [{ enum: ["b"] }, { type: "number" }] } },
    },
    required: ["const"],
  });
});

it("is used after a refusal of Google, and remembered", () => {
  const body = { tools: [{ type: "function", function: { name: "f", parameters: SCHEMA } }] };
  const sent = Buffer.from(JSON.stringify(body));
  const message =
    "Invalid JSON payload received. Unknown name \"exclusiveMinimum\" at 'tools[0].function_declarations[0].parameters.properties[2].value': Cannot find field.";
  const { refusal, lesson } = classifyRefusal(400, { message, fields: [] }, sent);
  const profile = new ParameterProfile({}, new StandingClock());
  const rules = profile.forRequest();
  rules.adapter([])("chat", scanObject(sent));
  expect(rules.find(refusal, lesson)).toBe(true);
  rules.confirm();
  expect(profile.rules?.plainSchemas).toBe(true);
  const edits = profile.forRequest().adapter([])("chat", scanObject(sent));
  expect(edits?.set?.tools).not.toContain("exclusiveMinimum");
});
