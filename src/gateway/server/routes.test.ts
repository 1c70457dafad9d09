import { describe, expect, it } from "vitest";
import { Routes } from "./routes.ts";

const routes = new Routes<string>();
routes.add("GET", "/v1/models", "models");
routes.add("POST", "/v1/models", "add");
routes.add("GET", "/v1/decisions/{id}", "decision");
routes.add("POST", "/v1/routers/{router}/voters/{voter}", "voter");

describe("a path", () => {
  it.each([
    ["GET", "/v1/models", "models", {}],
    ["POST", "/v1/models", "add", {}],
    ["GET", "/v1/models/", "models", {}],
    ["GET", "/v1/decisions/abc", "decision", { id: "abc" }],
    ["GET", "/v1/decisions/abc/", "decision", { id: "abc" }],
    ["GET", "/v1/decisions/__proto__", "decision", { id: "__proto__" }],
    ["GET", "/v1/decisions/a%2Fb%20c", "decision", { id: "a/b c" }],
    ["POST", "/v1/routers/auto/voters/ann", "voter", { router: "auto", voter: "ann" }],
  ])("%s %s is found", (method, path, target, params) => {
    expect(routes.find(method, path)).toEqual({ target, params });
  });

  it.each([
    ["GET", "/"],
    ["GET", "/v1/model"],
    ["GET", "/v1/models//"],
    ["DELETE", "/v1/models"],
    ["POST", "/v1/decisions/abc"],
    ["GET", "/v1/decisions/"],
    ["GET", "/v1/decisions/a/b"],
    ["GET", `/v1/decisions/${"x".repeat(301)}`],
  ])("%s %s is not", (method, path) => {
    expect(routes.find(method, path)).toBeUndefined();
  });

  it("in broken escapes is refused", () => {
    expect(() => routes.find("GET", "/v1/decisions/%zz")).toThrow(URIError);
  });
});
