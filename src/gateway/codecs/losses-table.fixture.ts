/** The losses of translations as docs/http.md lists them. */
import { readFileSync } from "node:fs";
import path from "node:path";

const DOCS = readFileSync(path.resolve(import.meta.dirname, "../../../docs/http.md"), "utf8");

/** Fields that some dialects cannot carry, in the order in which the effects apply: a table of docs/http.md. */
export const LOSSES = DOCS.split("| field | translated to | effect |")[1]!
  .split("\n\n")[0]!
  .split("\n")
  .slice(2)
  .map((row) => {
    const [field = "", to = ""] = row.replace(/^\| /, "").split(" | ");
    return { field, to: to.split(", ") };
  });

/** Members of requests that only these dialects know, as docs/http.md lists them. */
export function ownMembers(dialects: string): string[] {
  return new RegExp(`^- Only ${dialects}: (.*)\\.$`, "m").exec(DOCS)![1]!.split(", ");
}
