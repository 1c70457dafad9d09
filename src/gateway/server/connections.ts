import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Config } from "../config/config.ts";
import { HttpError } from "../wire/http-error.ts";

/** Limits of the connections to the gateway. */
export interface ConnectionLimits {
  /** Connections in total. Above it, only health checks and administration are answered. */
  readonly total: number;
  readonly perAddress: number;
  /** Time in which a client must read some of the bytes that wait for it. */
  readonly writeMs: number;
}

/** Connections above the total that are accepted for health checks and administration. */
const RESERVED = 32;
const RESERVED_PATHS = /^\/(healthz|readyz|metrics|v1\/admin\/)/;
/** Bytes that a client must read within `writeMs`, unless fewer wait for it. */
const PROGRESS_BYTES = 4096;
/** Descriptors for files, the database and the learner. */
const OWN_DESCRIPTORS = 64;

/**
 * The limits of a configuration. Without a configured total, connections may take half of the
 * file descriptors that the process can have, because each may need another one to a provider.
 */
export function connectionLimits(config: Config["server"], descriptors: number): ConnectionLimits {
  const half = Math.floor((descriptors - OWN_DESCRIPTORS - RESERVED) / 2);
  const total = config.connections ?? Math.min(10_000, Math.max(16, half));
  return {
    total,
    perAddress: config.connections_per_address ?? Math.ceil(total / 2),
    writeMs: config.write_seconds * 1000,
  };
}

/**
 * The largest number of open files of this process, where Linux tells it. process.report tells it
 * everywhere, but stops all worker threads to describe them.
 */
export function descriptorLimit(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
    return soft > 0 ? soft : Infinity;
  } catch {
    return Infinity;
  }
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Requests that are being received or answered. */
  requests: number;
  /** Bytes that the client had read at `progressAt`. */
  read: number;
  progressAt: number;
}

/**
 * Keeps the number of connections and the time that a client may hold one within limits. Node
 * itself ends connections whose headers or body do not arrive in time and those that are idle.
 */
export class Connections {
  readonly #server: Server;
  readonly #limits: ConnectionLimits;
  readonly #now: () => number;
  readonly #onChange: (closed?: ClosedFor) => void;
  /** Open connections, in the order in which they were last idle. */
  readonly #open = new Map<Socket, Connection>();
  readonly #byAddress = new Map<string, number>();

  constructor(
    server: Server,
    limits: ConnectionLimits,
    { now, onChange }: { now(): number; onChange?(open: number, closed?: ClosedFor): void },
  ) {
    this.#server = server;
    this.#limits = limits;
    this.#now = now;
    this.#onChange = (closed) => onChange?.(this.#open.size, closed);
    server.on("connection", (socket: Socket) => this.#accept(socket));
    const timer = setInterval(() => this.#cutOffSlowReaders(), SWEEP_MS).unref();
    server.on("close", () => clearInterval(timer));
  }

  /** Wraps the listener of requests. On a connection above the limits, it refuses all but the reserved paths. */
  guard(listener: RequestListener, refuse: Refuse): RequestListener {
    return (request, response) => {
      const connection = this.#open.get(request.socket);
      if (connection) {
        connection.requests++;
        response.on("close", () => this.#release(connection));
      }
      const { total, perAddress } = this.#limits;
      const isFull =
        this.#open.size > total || this.#countOf(request.socket.remoteAddress) > perAddress;
      if (isFull && !RESERVED_PATHS.test(request.url ?? "")) refuse(busy(), request, response);
      else listener(request, response);
    };
  }

  /** Accepts no more connections, and returns when the running requests have ended or the time is over. */
  async drain(milliseconds: number): Promise<void> {
    const deadline = setTimeout(() => this.#server.closeAllConnections(), milliseconds);
    // A connection is kept alive after its last request, so unused ones are closed repeatedly.
    const unused = setInterval(() => {
      this.#server.closeIdleConnections();
      this.#closeSilent();
    }, 50);
    await once(this.#server.close(), "close");
    clearTimeout(deadline);
    clearInterval(unused);
  }

  /** Closes connections on which nothing was ever sent. Node does not count them as idle. */
  #closeSilent(): void {
    for (const { socket } of this.#open.values()) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  #accept(socket: Socket): void {
    const { total, perAddress } = this.#limits;
    const address = socket.remoteAddress ?? "";
    if (this.#countOf(address) >= perAddress) this.#closeIdle(address);
    if (this.#open.size >= total) this.#closeIdle();
    const isFull =
      this.#open.size >= total + RESERVED || this.#countOf(address) >= perAddress + RESERVED;
    if (isFull) {
      this.#onChange("too many");
      return void socket.destroy();
    }
    const connection = { socket, address, requests: 0, read: 0, progressAt: this.#now() };
    this.#open.set(socket, connection);
    this.#byAddress.set(address, this.#countOf(address) + 1);
    socket.on("close", () => this.#forget(connection));
    this.#onChange();
  }

  #countOf(address = ""): number {
    return this.#byAddress.get(address) ?? 0;
  }

  #forget({ socket, address }: Connection): void {
    if (!this.#open.delete(socket)) return;
    const left = this.#countOf(address) - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
    this.#onChange();
  }

  #release(connection: Connection): void {
    connection.requests--;
    if (connection.requests > 0 || !this.#open.delete(connection.socket)) return;
    this.#open.set(connection.socket, connection);
  }

  /** Closes the connection, of one address or of all, that has waited longest for a request. */
  #closeIdle(address?: string): void {
    for (const connection of this.#open.values()) {
      if (connection.requests > 0) continue;
      if (address !== undefined && connection.address !== address) continue;
      this.#forget(connection);
      this.#onChange("too many");
      connection.socket.destroy();
      return;
    }
  }

  #cutOffSlowReaders(): void {
    const now = this.#now();
    for (const connection of this.#open.values()) {
      const { socket, read, progressAt } = connection;
      const waiting = socket.writableLength;
      const total = socket.bytesWritten - waiting;
      if (waiting === 0 || total - read >= PROGRESS_BYTES) {
        connection.read = total;
        connection.progressAt = now;
      } else if (now - progressAt > this.#limits.writeMs) {
        this.#onChange("unread");
        socket.destroy();
      }
    }
  }
}

/** The reason why the gateway closed a connection. */
type ClosedFor = "too many" | "unread";

type Refuse = (error: HttpError, request: IncomingMessage, response: ServerResponse) => void;

const SWEEP_MS = 1000;

function busy(): HttpError {
  return new HttpError(503, "the gateway has too many connections", {
    hint: "try again, or raise server.connections in joust.yaml",
    code: "too_many_connections",
    retryAfter: 1,
  });
}

/** Sends the last bytes of a connection and closes it, whether the client reads them or not. */
export function endConnection(socket: Socket, text: string): void {
  socket.end(text, () => socket.destroy());
  setTimeout(() => socket.destroy(), 1000).unref();
}
