/** A worker process for tests: `node work.child.fixture.ts URL FOLDER`. */
import { PLACES } from "./local-workers.fixture.ts";
import { FolderStore } from "./store.ts";
import { work } from "./work.ts";

const [url, folder] = process.argv.slice(2);
await work({
  url: url!,
  threads: 1,
  kinds: new URL("./kinds.fixture.ts", import.meta.url),
  store: new FolderStore(folder!),
  places: PLACES,
  signal: new AbortController().signal,
  onTask: ({ kind }, state) => process.stdout.write(`${state} ${kind}\n`),
});
