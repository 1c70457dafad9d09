import pg from "pg";
import { type OldRow, oldPrompt, oldRows } from "../cases/legacy.case.ts";
import { migrationsOf } from "../migrate.ts";

/** Fills a database as version 0.1 did. */
export async function writeOldDatabase(url: string, decisions: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const [first] = migrationsOf("postgres");
  await client.query("CREATE TABLE migrations (number integer PRIMARY KEY, name text NOT NULL)");
  await client.query(first!.sql);
  await client.query("INSERT INTO migrations VALUES (1, $1)", [first!.name]);
  let page: OldRow[] = [];
  const write = async () => {
    const column = <K extends keyof OldRow>(name: K) => page.map((row) => row[name]);
    await client.query(
      `INSERT INTO log (position, router, kind, at, decision, slot, voter, owner, session, x, body)
       OVERRIDING SYSTEM VALUE
       SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[],
         $6::integer[], $7::text[], $8::text[], $9::text[], $10::bytea[], $11::text[])`,
      [
        column("position"),
        column("router"),
        column("kind"),
        column("at"),
        column("decision"),
        column("slot"),
        column("voter"),
        column("owner"),
        column("session"),
        column("x").map((x) => x && Buffer.from(x)),
        column("body"),
      ],
    );
    page = [];
  };
  for (const row of oldRows(decisions)) {
    page.push(row);
    if (page.length === 2000) await write();
  }
  await write();
  for (let from = 0; from < decisions; from += 10_000) {
    const numbers = Array.from({ length: Math.min(10_000, decisions - from) }, (_, i) => from + i);
    const prompts = numbers.flatMap((n) => {
      const sealed = oldPrompt(n);
      return sealed ? [{ n, sealed: Buffer.from(sealed) }] : [];
    });
    await client.query(
      "INSERT INTO prompts SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])",
      [
        prompts.map(({ n }) => `d${n}`),
        prompts.map(({ n }) => n),
        prompts.map(({ sealed }) => sealed),
      ],
    );
  }
  await client.end();
}
