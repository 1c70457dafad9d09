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

/** Breaks a connection once what was sent of the weights is on the disk: sooner, it may be lost on the way. */
function newBreaker(): Breaker {
  const { length: size } = weightsOf(tinyRepository());
  let waiting = { bytes: Infinity, destroy: () => {} };
  return {
    breakAt: (bytes, response) => {
      waiting = { bytes, destroy: () => response.destroy() };
    },
    // The weights come last.
    onProgress: ({ done, total }) => {
      if (size - (total - done) >= waiting.bytes) waiting.destroy();
    },
  };
}

describe("goes on where it broke", () => {
  const brokenOnce = ({ breakAt }: Breaker) =>
    first(1, ({ bytes }, response) => {
      response.writeHead(200, { "content-length": bytes!.length });
      response.write(bytes!.subarray(0, 2000));
      breakAt(2000, response);
      return true;
    });

  it("within one run", async () => {
    const breaker = newBreaker();
    const { get, path, files, asked, slept } = await setUp(brokenOnce(breaker));
    await get(breaker);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    const ranges = asked.filter(({ url }) => isWeights(url)).map(({ range }) => range);
    expect(ranges).toEqual([undefined, "bytes=2000-"]);
    expect(slept.length).toBe(1);
  });

  it("in the next run, after the first was given up", async () => {
    const breaker = newBreaker();
    const { get, path, files, asked, models } = await setUp(brokenOnce(breaker));
    await expect(get({ attempts: 1, ...breaker })).rejects.toThrow(
      errorText(/broke the connection .* goes on where it was/),
    );
    expect(readdirSync(models)).toEqual(["tiny.download"]); // no lock, nothing in place
    expect(await get()).toEqual({ path, changed: true });
    expect(asked.filter(({ url }) => isWeights(url)).map(({ range }) => range)).toEqual([
      undefined,
      "bytes=2000-",
    ]);
    expect(asked.filter(({ url }) => url.endsWith("tokenizer.json")).length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    expect(readdirSync(models)).toEqual(["tiny"]);
  });

  it("from the beginning, where the host knows no ranges", async () => {
    const breaker = newBreaker();
    const half = brokenOnce(breaker);
    const { get, path, files, asked } = await setUp((asked, response) => {
      const broken = half(asked, response);
      if (broken !== undefined || !asked.bytes) return broken;
      response.end(asked.bytes); // 200, whatever was asked for
      return true;
    });
    await get(breaker);
    expect(asked.filter(({ range }) => range === "bytes=2000-").length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("from the beginning, where the host refuses the range", async () => {
    const breaker = newBreaker();
    const half = brokenOnce(breaker);
    const { get, path, files, asked } = await setUp((asked, response) => {
      const broken = half(asked, response);
      if (broken !== undefined) return broken;
      if (asked.range === undefined) return undefined;
      response.writeHead(416).end();
      return true;
    });
    await get(breaker);
    expect(asked.filter(({ range }) => range === "bytes=2000-").length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("as often as it takes, if each time brings something", async () => {
    const breaker = newBreaker();
    const { get, path, files, asked } = await setUp(
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
    expect(asked.filter(({ url }) => isWeights(url)).length).toBe(21);
  });

  it("but not for ever with a host that always breaks at the same byte", async () => {
    const breaker = newBreaker();
    const { get, asked } = await setUp(
      first(99, ({ bytes }, response) => {
        response.writeHead(200, { "content-length": bytes!.length });
        response.write(bytes!.subarray(0, 500));
        breaker.breakAt(500, response);
        return true;
      }),
    );
    await expect(get(breaker)).rejects.toThrow(errorText(/broke the connection/));
    expect(asked.filter(({ url }) => isWeights(url)).length).toBeLessThanOrEqual(5);
  });

  it("when nothing came for a while", async () => {
    const silent = first(1, ({ bytes }, response) => {
      response.writeHead(200, { "content-length": bytes!.length });
      return response.write(bytes!.subarray(0, 2000)); // and then no more
    });
    const { get, path, files } = await setUp(silent);
    await get({ patience: 2000 }); // which a good answer needs less than, however busy the machine
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("after it was stopped", async () => {
    const { get, path, files, asked, models } = await setUp(
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
    expect(asked.at(-1)).toMatchObject({ range: "bytes=2000-" });
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });
});

describe("tries again what may pass", () => {
  it.each([429, 500, 503])("status %i, of the list and of a file", async (status) => {
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

it("follows a redirect to another path, the range with it", async () => {
  const files = tinyRepository();
  const { get, path, asked } = await setUp(({ url, range, bytes }, response) => {
    if (url.startsWith("/cdn/")) return sendFile(files.get(url.slice(5))!, range, response) ?? true;
    if (!bytes) return undefined;
    return response.writeHead(302, { location: `/cdn/${url.split("/").slice(5).join("/")}` }).end();
  }, files);
  const part = join(`${path}.download`, `${WEIGHTS}.${weightsHash(files).slice(0, 12)}.part`);
  mkdirSync(`${path}.download`);
  writeFileSync(part, weightsOf(files).subarray(0, 1000));
  await get();
  expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  expect(asked.at(-1)).toMatchObject({ url: `/cdn/${WEIGHTS}`, range: "bytes=1000-" });
});

it("sends the token to the host, and not where the host redirects to", async () => {
  const files = tinyRepository();
  const elsewhere: (string | undefined)[] = [];
  const cdn = await serve((request, response) => {
    elsewhere.push(request.headers.authorization);
    sendFile(files.get(request.url!.slice(1))!, request.headers.range, response);
  });
  const { get, asked } = await setUp(({ url, bytes }, response) => {
    if (!bytes) return undefined;
    return response
      .writeHead(302, { location: `${cdn}/${url.split("/").slice(5).join("/")}` })
      .end();
  }, files);
  await get({ token: "hf_secret" });
  expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(
    new Set(["Bearer hf_secret"]),
  );
  expect(elsewhere.length).toBeGreaterThan(5);
  expect(new Set(elsewhere)).toEqual(new Set([undefined]));
});

describe("a file that is not what was listed", () => {
  const spoilt =
    (name: string): Misbehaviour =>
    ({ url, bytes }, response) => {
      if (!url.endsWith(`/${name}`)) return undefined;
      const other = Buffer.from(bytes!);
      other[0]! ^= 1;
      return response.end(other);
    };
  it.each([
    [WEIGHTS, /model.safetensors: came damaged: its SHA-256 is .*; hint: it was removed: run/],
    ["tokenizer.json", /tokenizer.json: came damaged: its git hash is/],
  ])("%s is removed, said, and put nowhere", async (name, message) => {
    const { get, path, models } = await setUp(spoilt(name));
    await expect(get()).rejects.toThrow(errorText(message));
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(models)).toEqual(["tiny.download"]);
    expect(filesIn(`${path}.download`).some((file) => file.startsWith(name))).toBe(false);
  });

  it("that is longer or shorter than listed does not pass", async () => {
    const longer = await setUp(({ url, bytes }, response) =>
      isWeights(url) ? response.end(Buffer.concat([bytes!, bytes!])) : undefined,
    );
    await expect(longer.get()).rejects.toThrow(
      errorText(/sends more than the \d+ bytes it has listed/),
    );
    const shorter = await setUp(({ url, bytes }, response) =>
      isWeights(url) ? response.end(bytes!.subarray(0, 100)) : undefined,
    );
    await expect(shorter.get()).rejects.toThrow(errorText(/ended early/));
  });

  it("and a part of another version is not gone on with", async () => {
    const { get, path, files, asked, models } = await setUp();
    mkdirSync(`${path}.download`);
    writeFileSync(join(`${path}.download`, `${WEIGHTS}.0123456789ab.part`), "another version's");
    writeFileSync(join(`${path}.download`, WEIGHTS), "damaged on the disk");
    await get();
    expect(asked.every(({ range }) => range === undefined)).toBe(true);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    expect(filesIn(path).some((name) => name.endsWith(".part"))).toBe(false);
    expect(readdirSync(models)).toEqual(["tiny"]);
  });
});

// Every write to /dev/full fails as on a full disk.
it.skipIf(!existsSync("/dev/full"))(
  "says that the disk is full, and goes on when it is not",
  async () => {
    const { get, path, files } = await setUp();
    const part = join(`${path}.download`, `${WEIGHTS}.${weightsHash(files).slice(0, 12)}.part`);
    mkdirSync(`${path}.download`);
    symlinkSync("/dev/full", part);
    await expect(get()).rejects.toThrow(
      errorText(
        /tiny.download: has no room for a file of \d+ bytes; hint: make room and run the same command/,
      ),
    );
    rmSync(part);
    expect(await get()).toEqual({ path, changed: true });
  },
);
