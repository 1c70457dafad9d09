import { expect, it, vi } from "vitest";
import type { OpenEncoder } from "../../core/encoder/open-encoder.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { StoreUnavailable } from "../../store/store-error.ts";
import { checkGateway } from "../check-gateway.ts";
import { chat, configOf, newFolder, optionsOf, SANDBOX, startGateway } from "../gateway.fixture.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

// The readers of other files find these faults. The error names the field of the router.
it.each([
  [
    "policy: jost",
    /^joust\.yaml: field "routers\.auto\.policy": "jost" is not a policy; .*"joust"\?/,
  ],
  [
    "policy: 'joust:horizon=600'",
    /"routers\.auto\.policy": .*\{name: joust, options: \{horizon: 600\}\}$/,
  ],
  ["policy: ./mine.ts", /"routers\.auto\.policy": "\.\/mine\.ts" does not exist/],
  [
    "encoder: MinLM",
    /"routers\.auto\.encoder": "MinLM" is not an encoder; .*did you mean "MiniLM"\?/,
  ],
  ["bundle: out/none", /"routers\.auto\.bundle": .*out\/none" is not an encoder/],
  ["scores: none.csv", /"routers\.auto\.scores": none\.csv: does not exist/],
])("refuses a router with %s and names its field", async (member, message) => {
  await expect(startGateway(`routers:\n  auto:\n    ${member}`)).rejects.toThrow(
    errorText(message),
  );
});

it("refuses a model whose provider has no key, unless the provider has another address", async () => {
  const yaml = "models:\n  small: {provider: openai, model: gpt-5.4-nano}";
  await expect(startGateway(yaml)).rejects.toThrow(
    errorText(
      /"models\.small\.provider": is openai, which needs .* OPENAI_API_KEY; hint: export OPENAI_API_KEY/,
    ),
  );
  const proxied = await startGateway(yaml, { env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } });
  // Commands that only read the log do not need the key.
  expect((await checkGateway(optionsOf(yaml, { folder: newFolder() }))).models).toHaveLength(1);
  const { data } = (await proxied.get("/v1/models")).json;
  // The names are those in joust.yaml.
  expect(data[1].price).toEqual({ input: 0.2, output: 1.25, cached_input: 0.02 });
});

it("serves a model of the sandbox together with others", async () => {
  const yaml = "models:\n  a: {provider: sandbox, model: abacus-14b}\n  b: {provider: openai}";
  const { get } = await startGateway(yaml, { env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } });
  const { data } = (await get("/v1/models")).json;
  expect(data.map(({ id, owned_by }: { id: string; owned_by: string }) => [id, owned_by])).toEqual([
    ["auto", "joust"],
    ["a", "sandbox"],
    ["b", "openai"],
  ]);
});

it.each(["observe", "bypass"])(
  "serves a new fallback in mode %s before the learner knows of it",
  async (mode) => {
    const yaml = (fallback: string, models: string) =>
      `${SANDBOX}\nrouters: {auto: {mode: ${mode}, fallback: ${fallback}, models: [${models}]}}`;
    const { post, get, reload, store, serving } = await startGateway(
      yaml("quill-32b", "quill-32b, abacus-14b"),
    );
    const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const controls = store.controls.bind(store);
    store.controls = async (...read) => {
      // The learner and the reload read them before there is a new fallback.
      if (serving().routers.get("auto")!.config.fallback === "summit-pro") {
        asked.resolve();
        await known.promise;
      }
      return controls(...read);
    };
    const reloading = reload(configOf(yaml("summit-pro", "summit-pro, abacus-14b")));
    await asked.promise;
    const during = await post("/v1/chat/completions", chat("Why?")).finally(known.resolve);
    await reloading;
    expect([during.status, during.json.model]).toEqual([200, "summit-pro"]);
    expect((await post("/v1/chat/completions", chat("Why?"))).json.model).toBe("summit-pro");
    const { json } = await get(`/v1/decisions/${during.json.joust.decision_id}`);
    expect(json.models).toEqual(["summit-pro"]);
  },
);

it("closes the encoder of a router after the configuration has changed to another one", async () => {
  const yaml = (encoder: string) => `${SANDBOX}\nrouters: {auto: {encoder: ${encoder}}}`;
  const { serving, reload } = await startGateway(yaml("hash"));
  const { encoder } = serving().routers.get("auto")!.calibration;
  const close = vi.spyOn(encoder, "close");
  await reload(configOf(`${yaml("hash")}\nmetrics: {thumb: {type: boolean}}`));
  expect(close).not.toHaveBeenCalled();
  await reload(configOf(yaml("static")));
  expect(close).toHaveBeenCalled();
});

it("closes an encoder only after the requests that it is embedding", async () => {
  const yaml = (encoder: string) => `${SANDBOX}\nrouters: {auto: {encoder: ${encoder}}}`;
  const { serving, reload, post, get } = await startGateway(yaml("hash"));
  const router = serving().routers.get("auto")!;
  const encoder = router.calibration.encoder as Mutable<OpenEncoder>;
  const [asked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isClosed = false;
  encoder.close = async () => {
    isClosed = true;
  };
  const { encode } = encoder;
  delete encoder.encodeText;
  encoder.encode = async (texts) => {
    asked.resolve();
    await free.promise;
    if (isClosed) throw new Error("the encoder is closed");
    return encode(texts);
  };
  const answering = post("/v1/chat/completions", chat("Why?"));
  await asked.promise;
  const reloading = reload(configOf(yaml("static")));
  await expect.poll(() => serving().routers.get("auto") !== router).toBe(true);
  free.resolve();
  const { json } = await answering;
  const decision = (await get(`/v1/decisions/${json.joust.decision_id}`)).json;
  expect([decision.id, decision.encoder_failed]).toEqual([json.joust.decision_id, undefined]);
  await reloading;
  expect(isClosed).toBe(true);
});

it("answers with the previous encoder until the router with the next one is open", async () => {
  const yaml = (encoder: string) => `${SANDBOX}\nrouters: {auto: {encoder: ${encoder}}}`;
  const { serving, reload, store, post } = await startGateway(yaml("hash"));
  const router = serving().routers.get("auto")!;
  const { encoderName } = router.calibration;
  const [asked, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const decisions = store.decisions.bind(store);
  store.decisions = async (query) => {
    asked.resolve();
    await open.promise;
    return decisions(query);
  };
  const reloading = reload(configOf(yaml("static")));
  await asked.promise;
  // The router that is served loads the configuration of the next one when it looks for changes again.
  const head = vi.fn(store.head.bind(store));
  store.head = head;
  await vi.waitFor(() => expect(head.mock.calls.length).toBeGreaterThan(1), { timeout: 60_000 });
  expect(router.view.encoder).toBe(encoderName);
  const { status } = await post("/v1/chat/completions", chat("Why?")).finally(open.resolve);
  expect(status).toBe(200);
  await reloading;
  expect(serving().routers.get("auto")!.view.encoder).not.toBe(encoderName);
});

it("applies new settings when a reload succeeds after one that the store interrupted", async () => {
  const { serving, reload, store } = await startGateway(SANDBOX);
  const next = configOf(`${SANDBOX}\nrouters: {auto: {budget: 0.001}}`);
  const { snapshotPositions } = store;
  store.snapshotPositions = () => Promise.reject(new StoreUnavailable("it is down"));
  await expect(reload(next)).rejects.toThrow(StoreUnavailable);
  store.snapshotPositions = snapshotPositions;
  await reload(next);
  const { serving: state } = serving().routers.get("auto")!.view.router.snapshot();
  expect(state!.pacer).toBeDefined();
});

it.each(["controls", "snapshotPositions"] as const)(
  "serves the previous configuration if the store fails in %s during a reload",
  async (method) => {
    const yaml = (rest: string) => `${SANDBOX}\nrouters: {auto: {mode: bypass, ${rest}}}`;
    const { reload, store, post, serving } = await startGateway(yaml("fallback: quill-32b"));
    const { cap } = serving().routers.get("auto")!;
    const answered = async () => (await post("/v1/chat/completions", chat("Why?"))).json.model;
    const next = configOf(yaml("fallback: summit-pro, budget: 0.001, duels: {share: 0.5}"));
    const { [method]: original } = store;
    Object.assign(store, { [method]: () => Promise.reject(new StoreUnavailable("it is down")) });
    await expect(reload(next)).rejects.toThrow(StoreUnavailable);
    Object.assign(store, { [method]: original });
    expect(await answered()).toBe("quill-32b");
    expect(serving().routers.get("auto")!.cap).toBe(cap);
    await reload(next);
    expect(await answered()).toBe("summit-pro");
  },
);

it("changes no router if the store fails at one of them during a reload", async () => {
  const router = (fallback: string) => `{mode: bypass, fallback: ${fallback}, duels: {share: 0.5}}`;
  const yaml = (fallback: string) =>
    `${SANDBOX}\nrouters: {one: ${router(fallback)}, two: ${router(fallback)}}`;
  const { reload, store, post } = await startGateway(yaml("quill-32b"));
  const answered = () =>
    Promise.all(
      ["one", "two"].map(async (model) => {
        const { json } = await post("/v1/chat/completions", chat("Why?", { model }));
        return json.model;
      }),
    );
  const next = configOf(
    `${yaml("summit-pro")}\nmodels: {summit-pro: {provider: sandbox}, quill-32b: {provider: sandbox}}`,
  );
  const controls = store.controls.bind(store);
  store.controls = (name, after) =>
    name === "two" ? Promise.reject(new StoreUnavailable("it is down")) : controls(name, after);
  await expect(reload(next)).rejects.toThrow(StoreUnavailable);
  store.controls = controls;
  expect(await answered()).toEqual(["quill-32b", "quill-32b"]);
  const pools = async () =>
    (await Promise.all(["one", "two"].map((name) => store.controls(name)))).map(
      (events) => events.length,
    );
  const before = await pools();
  await reload(next);
  expect(await answered()).toEqual(["summit-pro", "summit-pro"]);
  expect(await pools()).toEqual(before.map((count) => count + 1));
});

it("keeps learning with the previous router if the store fails during a reload", async () => {
  const yaml = (encoder: string) => `${SANDBOX}\nrouters: {auto: {encoder: ${encoder}}}`;
  const { serving, reload, store } = await startGateway(yaml("hash"));
  const router = serving().routers.get("auto")!;
  await expect.poll(() => router.isLearner).toBe(true);
  let followers = 0;
  const onChange = store.onChange.bind(store);
  store.onChange = (listener) => {
    const end = onChange(listener);
    followers++;
    return () => {
      followers--;
      end();
    };
  };
  const { decisions } = store;
  store.decisions = () => Promise.reject(new StoreUnavailable("it is down"));
  await expect(reload(configOf(yaml("static")))).rejects.toThrow(StoreUnavailable);
  expect([serving().routers.get("auto"), router.isLearner, followers]).toEqual([router, true, 0]);
  store.decisions = decisions;
  await reload(configOf(yaml("static")));
  const next = serving().routers.get("auto")!;
  await expect.poll(() => next.isLearner).toBe(true);
  expect(router.isLearner).toBe(false);
});
