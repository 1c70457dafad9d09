import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../input/folder.fixture.ts";
import { describeWithShared, shared } from "../shared.fixture.ts";
import { readModelFolder } from "../transformer/model/model-folder.ts";
import { distill } from "./distill.ts";
import { BUNDLED_STATIC } from "./open-static.ts";
import { STATIC_FILE, writeStaticFile } from "./static-file.ts";

const write = temporaryFolder();

describeWithShared("distilling MiniLM", ["models/all-MiniLM-L6-v2"], () => {
  it("reproduces the bundled file bit for bit", async () => {
    const file = write(STATIC_FILE, "");
    await writeStaticFile(file, distill(await readModelFolder(shared("models/all-MiniLM-L6-v2"))));
    const bundled = readFileSync(join(BUNDLED_STATIC, STATIC_FILE));
    expect(readFileSync(file).equals(bundled)).toBe(true);
  });
});
