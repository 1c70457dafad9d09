import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { newFiles } from "../../store/folder.fixture.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import type { Store } from "../../store/store.ts";
import { systemClock } from "../clock/clock.ts";
import { CONFIG } from "../config/config.ts";
import { ALONE } from "../peers/peers.ts";
import { StoredConversation } from "./conversation.ts";
import { StoredResponses } from "./stored-responses.ts";

const OWNER = "key";
const LIMIT = 2 ** 24;

const newFile = newFiles();

/** Responses in a store, and the number of queries that read them. */
async function open() {
  const store = await openSqlite(newFile());
  onTestFinished(() => store.close());
  const queries = { single: 0, batch: 0 };
  const saved: Promise<void>[] = [];
  const counted: Pick<Store, "saveResponses" | "response" | "responses" | "deleteResponse"> = {
    saveResponses: (rows) => {
      const done = store.saveResponses(rows);
      saved.push(done);
      return done;
    },
    deleteResponse: (id) => store.deleteResponse(id),
    response: (id) => {
      queries.single++;
      return store.response(id);
    },
    responses: (ids, maxBytes) => {
      queries.batch++;
      return store.responses(ids, maxBytes);
    },
  };
  const responses = () =>
    new StoredResponses({
      store: counted,
      config: () => CONFIG.parse({ store: { prompts: true } }).store,
      clock: systemClock,
      logger: pino({ level: "silent" }),
      peers: ALONE,
    });
  const own = responses();
  return {
    queries,
    /** The responses as another node reads them. */
    reader: responses,
    /** Stores the step `n`, which continues the step before it, as a request does. */
    async keep(n: number, text = `text ${n}`) {
      const conversation = new StoredConversation(own, OWNER, LIMIT);
      const previous = n === 0 ? undefined : `resp_${n - 1}`;
      if (previous !== undefined) await conversation.upTo(previous);
      own.keep(`resp_${n}`, {
        owner: OWNER,
        previous,
        earlier: conversation.chain.slice(1),
        input: JSON.stringify([{ role: "user", content: text }]),
        response: { output: [{ id: `msg_${n}`, type: "message", content: `answer ${n}` }] },
      });
      await Promise.all(saved.splice(0));
    },
  };
}

it("reads a long conversation in few queries", async () => {
  const { keep, reader, queries } = await open();
  for (let n = 0; n < 100; n++) await keep(n);
  queries.single = 0;
  queries.batch = 0;
  const parts = await new StoredConversation(reader(), OWNER, LIMIT).upTo("resp_99");
  const items = JSON.parse(`[${parts.join(",")}]`) as { content: string }[];
  expect(items.map(({ content }) => content)).toEqual(
    Array.from({ length: 100 }, (_, n) => [`text ${n}`, `answer ${n}`]).flat(),
  );
  expect(queries).toEqual({ single: 1, batch: 4 });
  const before = await new StoredConversation(reader(), OWNER, LIMIT).before("resp_40");
  expect(before).toHaveLength(81);
});

it("reads a large step apart from the others", async () => {
  const { keep, reader, queries } = await open();
  const large = "x".repeat(100_000);
  for (let n = 0; n < 20; n++) await keep(n, n === 10 ? large : undefined);
  queries.single = 0;
  queries.batch = 0;
  const parts = await new StoredConversation(reader(), OWNER, LIMIT).upTo("resp_19");
  expect(parts.join().includes(large)).toBe(true);
  expect(queries).toEqual({ single: 2, batch: 1 });
  await expect(
    new StoredConversation(reader(), OWNER, 50_000).upTo("resp_19"),
  ).rejects.toMatchObject({ code: "conversation_too_large" });
});

it("reads the items of many references in few queries", async () => {
  const { keep, reader, queries } = await open();
  for (let n = 0; n < 70; n++) await keep(n);
  queries.single = 0;
  queries.batch = 0;
  const numbers = Array.from({ length: 70 }, (_, i) => (i * 3) % 70);
  const references = numbers.map((n) => ({ type: "item_reference", id: `msg_${n}` }));
  const items = [...references, { role: "user", content: "more" }];
  const text = JSON.stringify(items).slice(1, -1);
  const resolved = await new StoredConversation(reader(), OWNER, LIMIT).resolved(text);
  const found = (JSON.parse(`[${resolved}]`) as { content: string }[]).map((one) => one.content);
  expect(found).toEqual([...numbers.map((n) => `answer ${n}`), "more"]);
  expect(queries).toEqual({ single: 0, batch: 6 });
  const foreign = new StoredConversation(reader(), "other", LIMIT).resolved(text);
  await expect(foreign).rejects.toMatchObject({ code: "item_not_found" });
});

it("refuses more references than a request may have before it reads any", async () => {
  const { reader, queries } = await open();
  const items = Array.from({ length: 2001 }, (_, n) => ({ type: "item_reference", id: `m${n}` }));
  const text = JSON.stringify(items).slice(1, -1);
  await expect(new StoredConversation(reader(), OWNER, LIMIT).resolved(text)).rejects.toMatchObject(
    { code: "conversation_too_long" },
  );
  expect(queries).toEqual({ single: 0, batch: 0 });
});
