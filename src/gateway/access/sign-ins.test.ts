import { describe, expect, it } from "vitest";
import { newFolder, SANDBOX, sharedGateway, startGateway } from "../gateway.fixture.ts";
import { cookieOf, SignIns } from "./sign-ins.ts";

const YAML = `${SANDBOX}
server: {trusted_proxies: [127.0.0.1]}
keys:
  ann: {key: ann-ann-ann-ann-ann}
  boss: {key: adm-adm-adm-adm-adm, scopes: [admin]}`;
const gateway = sharedGateway(() => YAML);

/** Signs in and returns the headers of later requests, and the response. */
async function signIn(key: string, { post } = gateway(), headers = {}) {
  const response = await post("/v1/session", { key }, headers);
  const cookie = response.headers.get("set-cookie") ?? "";
  const session = { cookie: cookie.split(";")[0]! };
  return { response, cookie, session, csrf: { "x-joust-csrf": response.json.csrf as string } };
}

describe("signing in", () => {
  it("with a valid key opens a session that scripts cannot read", async () => {
    const { response, cookie, session } = await signIn(" ann-ann-ann-ann-ann ");
    expect(response.json.key).toEqual({ name: "ann", scopes: ["route", "vote"] });
    expect(cookie).toMatch(
      /^joust_session=\S+; Max-Age=43\d+; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain("ann-ann");
    expect((await gateway().get("/v1/models", session)).status).toBe(200);
    const { json } = await gateway().get("/v1/session", session);
    expect(json).toEqual(response.json);
  });

  it("with a wrong or a revoked key says so and sets no cookie", async () => {
    const { response, cookie } = await signIn("nobody");
    expect([response.status, response.json.error.message, cookie]).toEqual([
      401,
      "the API key is unknown",
      "",
    ]);
    const { post } = gateway();
    const boss = { authorization: "Bearer adm-adm-adm-adm-adm" };
    const { json } = await post("/v1/admin/keys", { name: "gone" }, boss);
    const before = await signIn(json.secret);
    await post("/v1/admin/keys/gone/revoke", {}, boss);
    expect((await signIn(json.secret)).response.json.error.message).toBe("the API key was revoked");
    const refused = await gateway().get("/v1/models", before.session);
    expect([refused.status, refused.json.error.code]).toEqual([401, "session_ended"]);
  });

  it("behind a trusted proxy with TLS makes the cookie secure", async () => {
    const proxied = { "x-forwarded-proto": "https", "x-forwarded-for": "10.0.0.9" };
    expect((await signIn("ann-ann-ann-ann-ann", gateway(), proxied)).cookie).toMatch(/; Secure$/);
  });

  it("is not required without keys", async () => {
    const open = await startGateway(SANDBOX);
    expect((await open.get("/v1/session")).json).toEqual({ object: "session", required: false });
    const { response, cookie } = await signIn("any", open);
    expect([response.status, response.json.required, cookie]).toEqual([200, false, ""]);
    expect((await gateway().get("/v1/session")).json.required).toBe(true);
  });
});

describe("a session", () => {
  it("changes something only with the token that its page can read", async () => {
    const { session, csrf } = await signIn("adm-adm-adm-adm-adm");
    const { post } = gateway();
    const path = "/v1/admin/routers/auto/freeze";
    for (const headers of [session, { ...session, "x-joust-csrf": "wrong" }]) {
      const { status, json } = await post(path, {}, headers);
      expect([status, json.error.code]).toEqual([403, "csrf_token_missing"]);
    }
    const other = await signIn("adm-adm-adm-adm-adm");
    expect((await post(path, {}, { ...session, ...other.csrf })).status).toBe(403);
    expect((await post(path, {}, { ...session, ...csrf })).status).toBe(200);
  });

  it("has the scopes of its key, and gives way to a key in the request", async () => {
    const { session, csrf } = await signIn("ann-ann-ann-ann-ann");
    const { get } = gateway();
    expect((await get("/v1/admin/keys", session)).status).toBe(403);
    const bearer = { authorization: "Bearer adm-adm-adm-adm-adm" };
    expect((await get("/v1/admin/keys", { ...session, ...csrf, ...bearer })).status).toBe(200);
  });

  it("ends on all nodes when the person signs out", async () => {
    const folder = newFolder();
    const a = await startGateway(YAML, { folder });
    const { session, csrf } = await signIn("ann-ann-ann-ann-ann", a);
    const signOut = (headers: Record<string, string>) =>
      fetch(`${a.url}/v1/session`, { method: "DELETE", headers });
    expect((await signOut(session)).status).toBe(403);
    const response = await signOut({ ...session, ...csrf });
    expect([response.status, response.headers.get("set-cookie")]).toEqual([
      200,
      "joust_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
    ]);
    expect((await a.get("/v1/models", session)).status).toBe(401);
    expect((await a.get("/v1/session", session)).json.key).toBeUndefined();
    const b = await startGateway(YAML, { folder });
    expect((await b.get("/v1/models", session)).json.error.message).toBe("the session was ended");
  });

  it("expires", async () => {
    const brief = await startGateway(YAML.replace("{trusted", "{session_hours: 1.0e-9, trusted"));
    const { session } = await signIn("ann-ann-ann-ann-ann", brief);
    const { status, json } = await brief.get("/v1/models", session);
    expect([status, json.error.message]).toEqual([401, "the session has expired"]);
  });
});

describe("tokens", () => {
  const signIns = new SignIns(Buffer.alloc(32, 1), (key) => (key === "k1" ? "hash" : undefined));
  const token = signIns.tokenOf(signIns.issue("k1", 5000));
  const read = (text: string, reader = signIns) => reader.in(cookieOf(text, 9, false));

  it("are read from among other cookies", () => {
    const found = signIns.in(`a=b; joust_session=${token}; c=d`);
    expect(found).toMatchObject({ key: "k1", expiresAt: 5000 });
    expect(signIns.in("a=b")).toBeUndefined();
    expect(signIns.in(undefined)).toBeUndefined();
  });

  it("are invalid if a character, the secret or the key has changed", () => {
    expect(read(token)!.expiresAt).toBe(5000);
    for (let i = 0; i < token.length; i++) {
      const other = token[i] === "A" ? "B" : "A";
      expect(read(token.slice(0, i) + other + token.slice(i + 1))!.expiresAt).toBe(0);
    }
    expect(read(token, new SignIns(Buffer.alloc(32, 2), () => "hash"))!.expiresAt).toBe(0);
    expect(read(token, new SignIns(Buffer.alloc(32, 1), () => "new"))!.expiresAt).toBe(0);
  });
});
