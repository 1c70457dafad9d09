import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../../errors/error-text.fixture.ts";
import type { DownloadProgress } from "./download-model.ts";
import { serve } from "./http-server.fixture.ts";
import {
  filesIn,
  first,
  isWeights,
  type Misbehaviour,
  sendFile,
  setUp,
  tinyRepository,
  WEIGHTS,
  weightsHash,
  weightsOf,
} from "./hub.fixture.ts";

interface Breaker {
  breakAt(bytes: number, response: ServerResponse): void;
  onProgress(progress: DownloadProgress): void;
}

/** Breaks a connection when the sent bytes of the weights are on the disk. Breaking earlier might lose them. */
function newBreaker(): Breaker {
  const { length: size } = weightsOf(tinyRepository());
  let waiting = { bytes: Infinity, destroy: () => {} };
  return {
    breakAt: (bytes, response) => {
      waiting = { bytes, destroy: () => response.destroy() };
    },
    // The weights are the last file.
    onProgress: ({ done, total }) => {
      if (size - (total - done) >= waiting.bytes) waiting.destroy();
    },
  };
}

describe("resumes an interrupted download", () => {
  const brokenOnce = ({ breakAt }: Breaker) =>
    first(1, ({ bytes }, response) => {
      response.writeHead(200, { "content-length": bytes!.length });
      response.write(bytes!.subarray(0, 2000));
      breakAt(2000, response);
      return true;
    });

  it("within one run", async () => {
    const breaker = newBreaker();
    const { get, path, files, requests, slept } = await setUp(brokenOnce(breaker));
    await get(breaker);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    const ranges = requests.filter(({ url }) => isWeights(url)).map(({ range }) => range);
    expect(ranges).toEqual([undefined, "bytes=2000-"]);
    expect(slept.length).toBe(1);
  });

  it("in the next run, after the first one failed", async () => {
    const breaker = newBreaker();
    const { get, path, files, requests, models } = await setUp(brokenOnce(breaker));
    await expect(get({ attempts: 1, ...breaker })).rejects.toThrow(
      errorText(/broke the connection .* the download resumes/),
    );
    expect(readdirSync(models)).toEqual(["tiny.download"]); // no lock and no model
    expect(await get()).toEqual({ path, changed: true });
    expect(requests.filter(({ url }) => isWeights(url)).map(({ range }) => range)).toEqual([
      undefined,
      "bytes=2000-",
    ]);
    expect(requests.filter(({ url }) => url.endsWith("tokenizer.json")).length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    expect(readdirSync(models)).toEqual(["tiny"]);
  });

  it("from the beginning, if the server does not support ranges", async () => {
    const breaker = newBreaker();
    const half = brokenOnce(breaker);
    const { get, path, files, requests } = await setUp((request, response) => {
      const broken = half(request, response);
      if (broken !== undefined || !request.bytes) return broken;
      response.end(request.bytes); // status 200 for any range
      return true;
    });
    await get(breaker);
    expect(requests.filter(({ range }) => range === "bytes=2000-").length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("from the beginning, if the server rejects the range", async () => {
    const breaker = newBreaker();
    const half = brokenOnce(breaker);
    const { get, path, files, requests } = await setUp((request, response) => {
      const broken = half(request, response);
      if (broken !== undefined) return broken;
      if (request.range === undefined) return undefined;
      response.writeHead(416).end();
      return true;
    });
    await get(breaker);
    expect(requests.filter(({ range }) => range === "bytes=2000-").length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("any number of times, if each attempt makes progress", async () => {
    const breaker = newBreaker();
    const { get, path, files, requests } = await setUp(
      first(20, ({ bytes, range }, response) => {
        const from = Number(/\d+/.exec(range ?? "0")![0]);
        const rest = { "content-length": bytes!.length - from };
        if (from > 0) {
          const place = `bytes ${from}-${bytes!.length - 1}/${bytes!.length}`;
          response.writeHead(206, { ...rest, "content-range": place });
        } else response.writeHead(200, rest);
        response.write(bytes!.subarray(from, from + 200));
        breaker.breakAt(from + 200, response);
        return true;
      }),
    );
    await get(breaker); // with three attempts
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    expect(requests.filter(({ url }) => isWeights(url)).length).toBe(21);
  });

  it("but not forever if the server always fails at the same byte", async () => {
    const breaker = newBreaker();
    const { get, requests } = await setUp(
      first(99, ({ bytes }, response) => {
        response.writeHead(200, { "content-length": bytes!.length });
        response.write(bytes!.subarray(0, 500));
        breaker.breakAt(500, response);
        return true;
      }),
    );
    await expect(get(breaker)).rejects.toThrow(errorText(/broke the connection/));
    expect(requests.filter(({ url }) => isWeights(url)).length).toBeLessThanOrEqual(5);
  });

  it("after the server was silent for some time", async () => {
    const silent = first(1, ({ bytes }, response) => {
      response.writeHead(200, { "content-length": bytes!.length });
      return response.write(bytes!.subarray(0, 2000)); // and then nothing
    });
    const { get, path, files } = await setUp(silent);
    await get({ idleTimeout: 2000 }); // a correct response is faster, even on a busy machine
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("after an abort", async () => {
    const { get, path, files, requests, models } = await setUp(
      first(1, ({ bytes }, response) => {
        response.writeHead(200, { "content-length": bytes!.length });
        return response.write(bytes!.subarray(0, 2000));
      }),
    );
    const stop = new AbortController();
    const onProgress = ({ file, done }: DownloadProgress) => {
      if (file === WEIGHTS && done > 2000) stop.abort();
    };
    await expect(get({ signal: stop.signal, onProgress })).rejects.toThrow(errorText(/abort/));
    expect(readdirSync(models)).toEqual(["tiny.download"]);
    await get();
    expect(requests.at(-1)).toMatchObject({ range: "bytes=2000-" });
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });
});

describe("retries transient failures", () => {
  it.each([429, 500, 503])("status %i, for the listing and for a file", async (status) => {
    let failures = 0;
    const { get, path, slept } = await setUp(({ url }, response) => {
      if (failures >= 4 || (failures >= 2 && !isWeights(url))) return undefined;
      failures++;
      return response.writeHead(status, { "retry-after": "7" }).end();
    });
    expect(await get()).toEqual({ path, changed: true });
    expect(slept).toEqual([7000, 7000, 7000, 7000]);
  });
});

it("follows a redirect and keeps the range", async () => {
  const files = tinyRepository();
  const { get, path, requests } = await setUp(({ url, range, bytes }, response) => {
    if (url.startsWith("/cdn/")) return sendFile(files.get(url.slice(5))!, range, response) ?? true;
    if (!bytes) return undefined;
    return response.writeHead(302, { location: `/cdn/${url.split("/").slice(5).join("/")}` }).end();
  }, files);
  const part = join(`${path}.download`, `${WEIGHTS}.${weightsHash(files).slice(0, 12)}.part`);
  mkdirSync(`${path}.download`);
  writeFileSync(part, weightsOf(files).subarray(0, 1000));
  await get();
  expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  expect(requests.at(-1)).toMatchObject({ url: `/cdn/${WEIGHTS}`, range: "bytes=1000-" });
});

it("sends the token to the hub, but not to the target of a redirect", async () => {
  const files = tinyRepository();
  const elsewhere: (string | undefined)[] = [];
  const cdn = await serve((request, response) => {
    elsewhere.push(request.headers.authorization);
    sendFile(files.get(request.url!.slice(1))!, request.headers.range, response);
  });
  const { get, requests } = await setUp(({ url, bytes }, response) => {
    if (!bytes) return undefined;
    return response
      .writeHead(302, { location: `${cdn}/${url.split("/").slice(5).join("/")}` })
      .end();
  }, files);
  await get({ token: "hf_secret" });
  expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(
    new Set(["Bearer hf_secret"]),
  );
  expect(elsewhere.length).toBeGreaterThan(5);
  expect(new Set(elsewhere)).toEqual(new Set([undefined]));
});

describe("a file that differs from the listing", () => {
  const spoilt =
    (name: string): Misbehaviour =>
    ({ url, bytes }, response) => {
      if (!url.endsWith(`/${name}`)) return undefined;
      const other = Buffer.from(bytes!);
      other[0]! ^= 1;
      return response.end(other);
    };
  it.each([
    [
      WEIGHTS,
      /model.safetensors: arrived damaged: its SHA-256 is .*; hint: run the same command again/,
    ],
    ["tokenizer.json", /tokenizer.json: arrived damaged: its git hash is/],
  ])("%s is removed and reported", async (name, message) => {
    const { get, path, models } = await setUp(spoilt(name));
    await expect(get()).rejects.toThrow(errorText(message));
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(models)).toEqual(["tiny.download"]);
    expect(filesIn(`${path}.download`).some((file) => file.startsWith(name))).toBe(false);
  });

  it("in its length is rejected", async () => {
    const longer = await setUp(({ url, bytes }, response) =>
      isWeights(url) ? response.end(Buffer.concat([bytes!, bytes!])) : undefined,
    );
    await expect(longer.get()).rejects.toThrow(
      errorText(/sends more than the \d+ bytes that it listed/),
    );
    const shorter = await setUp(({ url, bytes }, response) =>
      isWeights(url) ? response.end(bytes!.subarray(0, 100)) : undefined,
    );
    await expect(shorter.get()).rejects.toThrow(errorText(/ended early/));
  });

  it("is not completed from a part of another version", async () => {
    const { get, path, files, requests, models } = await setUp();
    mkdirSync(`${path}.download`);
    writeFileSync(join(`${path}.download`, `${WEIGHTS}.0123456789ab.part`), "another version's");
    writeFileSync(join(`${path}.download`, WEIGHTS), "damaged on the disk");
    await get();
    expect(requests.every(({ range }) => range === undefined)).toBe(true);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    expect(filesIn(path).some((name) => name.endsWith(".part"))).toBe(false);
    expect(readdirSync(models)).toEqual(["tiny"]);
  });
});

// Every write to /dev/full fails as on a full disk.
it.skipIf(!existsSync("/dev/full"))(
  "reports a full disk, and resumes when there is space",
  async () => {
    const { get, path, files } = await setUp();
    const part = join(`${path}.download`, `${WEIGHTS}.${weightsHash(files).slice(0, 12)}.part`);
    mkdirSync(`${path}.download`);
    symlinkSync("/dev/full", part);
    await expect(get()).rejects.toThrow(
      errorText(
        /tiny.download: has no space for a file of \d+ bytes; hint: free some disk space and run/,
      ),
    );
    rmSync(part);
    expect(await get()).toEqual({ path, changed: true });
  },
);
