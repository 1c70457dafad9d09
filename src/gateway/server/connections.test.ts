import { execFileSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createConnection, Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { chat, configOf, SANDBOX, startFaultyUpstream, startGateway } from "../gateway.fixture.ts";
import {
  type ConnectionLimits,
  Connections,
  connectionLimits,
  descriptorLimit,
} from "./connections.ts";

const LIMITS: ConnectionLimits = { total: 4, perAddress: 4, writeMs: 1000 };
const HALF = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n";

/** A connection whose other end does nothing by itself, not even close. */
async function connect(port: number, text = ""): Promise<Socket> {
  const socket = createConnection({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise((done) => socket.on("connect", done));
  socket.write(text);
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((done) => {
    if (socket.destroyed || socket.readableEnded) return done();
    socket.resume();
    socket.on("close", () => done());
    socket.on("end", () => done());
  });
}

/** A server whose responses never end, with a clock that the test moves. */
async function startServer(limits: ConnectionLimits) {
  const time = { now: 0 };
  const server: Server = createServer();
  const connections = new Connections(server, limits, { now: () => time.now });
  server.on(
    "request",
    connections.guard(
      (request, response) => {
        if (!request.url!.startsWith("/anonymous")) connections.noteAdmitted(response);
        if (request.url!.endsWith("/slow")) response.write("x".repeat(1e7));
        else if (request.method === "GET") response.end("ok");
        else request.resume().on("end", () => response.end("ok"));
      },
      (error, _, response) => {
        response.writeHead(error.status, { connection: "close" }).end();
      },
    ),
  );
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const statusOf = async (path: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } })).status;
  return { server, connections, port, time, statusOf };
}

describe("connections", () => {
  it("are closed when there are too many, the one that has waited longest first", async () => {
    const { port, statusOf } = await startServer(LIMITS);
    const waiting: Socket[] = [];
    for (let i = 0; i < 4; i++) waiting.push(await connect(port, HALF));
    const first = closed(waiting[0]!);
    expect(await statusOf("/v1/models")).toBe(200);
    await first;
    expect(waiting.slice(1).some((socket) => socket.destroyed)).toBe(false);
  });

  it("with half of a request are closed when there are too many, if the request has no key", async () => {
    const { server, port, statusOf } = await startServer(LIMITS);
    /** Sends a request without the rest of its body, and returns when the server has it. */
    const half = async (path: string) => {
      const arrived = once(server, "request");
      const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9`;
      const socket = await connect(port, `${head}\r\n\r\n{`);
      await arrived;
      return socket;
    };
    const held: Socket[] = [];
    for (const path of ["/known", "/anonymous", "/anonymous", "/known"]) {
      held.push(await half(path));
    }
    for (const [i, still] of [
      [1, [0, 2, 3]],
      [2, [0, 3]],
    ] as const) {
      const gone = closed(held[i]!);
      expect(await statusOf("/v1/models")).toBe(200);
      await gone;
      for (const other of still) expect(held[other]!.destroyed).toBe(false);
      await half("/known");
    }
    expect(await statusOf("/v1/models")).toBe(503);
  });

  it("whose responses are not read are closed when there are too many, if no request has a key", async () => {
    const { server, port, statusOf } = await startServer(LIMITS);
    const anonymous = "GET /anonymous/slow HTTP/1.1\r\nhost: localhost\r\n\r\n";
    const admitted = "GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n";
    /** The server's ends of the connections. */
    const sockets: Socket[] = [];
    for (const text of [admitted, admitted + anonymous, anonymous + anonymous, anonymous]) {
      server.once("connection", (socket) => sockets.push(socket));
      const arrived = once(server, "request");
      await connect(port, text);
      await arrived;
    }
    for (const socket of sockets.slice(2)) {
      const gone = once(socket, "close");
      expect(await statusOf("/v1/models")).toBe(200);
      await gone;
      const arrived = once(server, "request");
      await connect(port, admitted);
      await arrived;
    }
    expect(await statusOf("/v1/models")).toBe(503);
    for (const socket of sockets.slice(0, 2)) expect(socket.destroyed).toBe(false);
  });

  it.each([
    ["in total", { ...LIMITS, perAddress: 100 }],
    ["from one address", { ...LIMITS, total: 100 }],
  ])("serve health checks when all others are busy %s", async (_, limits) => {
    const { port, statusOf } = await startServer(limits);
    const busy = await Promise.all(
      Array.from({ length: 4 }, () =>
        connect(port, "GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n"),
      ),
    );
    await Promise.all(busy.map((socket) => new Promise((done) => socket.once("data", done))));
    expect(await statusOf("/v1/models")).toBe(503);
    for (const path of ["/healthz", "/readyz", "/metrics", "/v1/admin/keys"]) {
      expect(await statusOf(path)).toBe(200);
    }
  });

  it("are closed when the client does not read", async () => {
    const { server, port, time } = await startServer(LIMITS);
    const taken = new Promise<Socket>((done) => server.once("connection", done));
    const socket = await connect(port, "GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const other = await taken;
    socket.pause();
    await expect.poll(() => other.writableLength).toBeGreaterThan(0);
    const gone = new Promise((done) => other.on("close", done));
    // The clock moves on while the server checks its connections.
    const timer = setInterval(() => {
      time.now += 600;
    }, 100);
    onTestFinished(() => clearInterval(timer));
    await gone;
    expect(other.destroyed).toBe(true);
  });

  it.runIf(process.platform === "linux")(
    "are limited by the descriptors that the process may have",
    () => {
      const soft = Number(execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }));
      expect(descriptorLimit()).toBe(soft);
    },
  );

  it("on which nothing was sent do not delay the end of the server, and a running request does", async () => {
    const { server, connections, port } = await startServer(LIMITS);
    const accepted = once(server, "connection");
    const silent = await connect(port);
    await accepted;
    const running = await connect(port, "GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await once(running, "readable");
    let hasEnded = false;
    const ended = connections.drain(1e9).then(() => {
      hasEnded = true;
    });
    await closed(silent);
    expect(hasEnded).toBe(false);
    running.destroy();
    await ended;
  });

  it("may take half of the descriptors, at most 10,000", () => {
    const { server } = configOf(SANDBOX);
    expect(connectionLimits(server, 300)).toMatchObject({ total: 102, perAddress: 51 });
    expect(connectionLimits(server, 1e6).total).toBe(10_000);
    expect(connectionLimits(server, 50).total).toBe(16);
    const own = configOf(`${SANDBOX}\nserver: {connections: 7, connections_per_address: 3}`);
    expect(connectionLimits(own.server, 300)).toMatchObject({ total: 7, perAddress: 3 });
  });
});

describe("a gateway", () => {
  it("closes connections that it has refused, even if the client does not", async () => {
    const gateway = await startGateway(`${SANDBOX}\nserver: {request_seconds: 1}`);
    const port = Number(new URL(gateway.url).port);
    const sockets = await Promise.all([
      connect(port, HALF),
      connect(port, `${HALF}content-length: 100\r\n\r\n{"model"`),
      connect(port, "no HTTP\r\n\r\n"),
      connect(port),
    ]);
    // The client has closed nothing, so the end of all connections is the gateway's doing.
    for (const socket of sockets) await closed(socket);
    const held = async () =>
      (await gateway.get("/metrics")).text.match(/joust_connections (\d+)/)?.[1];
    await expect.poll(held).toBe("1");
  });

  it("cuts off an answer that has begun when the client sends bytes that are not HTTP", async () => {
    const host = await startFaultyUpstream();
    const gateway = await startGateway(
      `providers: {stall: {url: "${host.url("stall")}"}}\nmodels: {m: {provider: stall}}`,
    );
    const body = JSON.stringify(chat("hi", { model: "m", stream: true }));
    const request = `${HALF}content-length: ${body.length}\r\n\r\n${body}`;
    const socket = await connect(Number(new URL(gateway.url).port), request);
    let text = "";
    socket.on("data", (piece) => {
      text += piece;
    });
    await once(socket, "data");
    socket.write("no HTTP\r\n\r\n");
    await closed(socket);
    expect(text).toContain("200 OK");
    expect(text).not.toContain("400 Bad Request");
  });

  // Each stream fills all buffers on its way, which takes more than a minute on a busy machine.
  it("answers one key while another does not read 270 streams", { timeout: 600_000 }, async () => {
    const host = await startFaultyUpstream();
    const gateway = await startGateway(
      `keys: {greedy: {key: greedy-0123456789}, modest: {key: modest-0123456789}}
providers: {endless: {url: "${host.url("endless")}"}, well: {url: "${host.url("well")}"}}
models: {endless: {provider: endless}, well: {provider: well}}`,
    );
    const port = Number(new URL(gateway.url).port);
    const body = JSON.stringify(chat("hi", { model: "endless", stream: true }));
    const request = `${HALF}authorization: Bearer greedy-0123456789\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const sockets = await Promise.all(Array.from({ length: 270 }, () => connect(port, request)));
    await Promise.all(
      sockets.map((socket) => new Promise((done) => socket.once("readable", done))),
    );
    const headers = { authorization: "Bearer modest-0123456789" };
    for (const model of ["endless", "well"]) {
      const stream = model === "endless";
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers,
        body: JSON.stringify(chat("hi", { model, stream })),
      });
      expect(answer.status).toBe(200);
      await answer.body!.cancel();
    }
  });

  it("answers requests with a key when half-sent sign-ins take every connection", async () => {
    const gateway = await startGateway(
      `${SANDBOX}\nserver: {connections: 10}\nkeys: {k: {key: key-0123456789abc}}`,
    );
    const port = Number(new URL(gateway.url).port);
    const head = "POST /v1/session HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99";
    let refused = 0;
    for (let i = 0; i < 40; i++) {
      const socket = await connect(port, `${head}\r\nexpect: 100-continue\r\n\r\n`);
      socket.on("data", (data) => {
        if (`${data}`.includes("429 Too Many Requests")) refused++;
      });
      // The server confirms the headers and waits for the body.
      await once(socket, "data");
    }
    const headers = { authorization: "Bearer key-0123456789abc" };
    expect((await gateway.get("/v1/models", headers)).status).toBe(200);
    // The rate is limited before the body is read.
    await expect.poll(() => refused).toBeGreaterThan(0);
  });

  it("stays reachable for health checks when half-sent requests take every connection", async () => {
    const gateway = await startGateway(`${SANDBOX}\nserver: {connections: 20}`);
    const port = Number(new URL(gateway.url).port);
    for (let i = 0; i < 60; i++) {
      await connect(port, i % 2 ? HALF : `${HALF}content-length: 100\r\n\r\n{"model"`);
    }
    expect((await gateway.get("/healthz")).status).toBe(200);
  });
});

it("the addresses of an IPv6 /64 count as one address", () => {
  const server = new EventEmitter() as Server;
  new Connections(server, { total: 10, perAddress: 1, writeMs: 1000 }, { now: () => 0 });
  const sockets = ["2001:db8::1", "2001:db8:0:1::1", "2001:db8::2"].map((remoteAddress) => {
    const socket = new Socket();
    Object.defineProperty(socket, "remoteAddress", { value: remoteAddress });
    server.emit("connection", socket);
    return socket;
  });
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  server.emit("close");
});
