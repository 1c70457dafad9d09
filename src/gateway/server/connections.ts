import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientAddress } from "../access/client-address.ts";
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

/** Connections that another process of this machine accepts, counts and passes on. */
export interface Intake {
  /** Address of the server. */
  readonly url: string;
  onConnection(take: (socket: Socket) => void): void;
  /** Whether requests of an address are refused, except those with reserved paths. */
  isFull(address: string): boolean;
  /** Sets the function that closes a connection that can be spared, of one address or of all, and returns whether there was one. */
  onMakeRoom(close: (address?: string) => boolean): void;
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
 * The largest number of open files of this process, which only Linux shows in a file.
 * process.report has it on every system, but stops all worker threads to describe them.
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

/** Counts connections, in total and by address, and compares the counts with the limits. */
export class ConnectionCounts {
  readonly #limits: ConnectionLimits;
  readonly #byAddress = new Map<string, number>();
  #total = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  add(address: string): void {
    this.#total++;
    this.#byAddress.set(address, this.#of(address) + 1);
  }

  remove(address: string): void {
    this.#total--;
    const left = this.#of(address) - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }

  /** Whether a connection that can be spared must be closed for one more: one of the same address, or any. */
  needsRoom(address: string): { readonly ofAddress: boolean; readonly ofAll: boolean } {
    const { total, perAddress } = this.#limits;
    return { ofAddress: this.#of(address) >= perAddress, ofAll: this.#total >= total };
  }

  /** Whether one more connection is refused, even for health checks and administration. */
  refuses(address: string): boolean {
    const { total, perAddress } = this.#limits;
    return this.#total >= total + RESERVED || this.#of(address) >= perAddress + RESERVED;
  }

  /** Whether requests of an address are refused, except those with reserved paths. */
  isFull(address: string): boolean {
    return this.isOverTotal || this.isOver(address);
  }

  get isOverTotal(): boolean {
    return this.#total > this.#limits.total;
  }

  /** Whether an address has more connections than one address may have. */
  isOver(address: string): boolean {
    return this.#of(address) > this.#limits.perAddress;
  }

  #of(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Responses to the requests that are being received or answered. */
  readonly running: Set<ServerResponse>;
  /** Those of them whose request was admitted with a key. */
  readonly admitted: Set<ServerResponse>;
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
  readonly #counts: ConnectionCounts;
  readonly #intake: Intake | undefined;
  readonly #now: () => number;
  readonly #onChange: (closed?: ClosedFor) => void;
  /** Open connections, in the order in which they were last idle. */
  readonly #open = new Map<Socket, Connection>();
  #onEmpty: (() => void) | undefined;
  #isClosing = false;

  /** With an intake, another process has counted and admitted the connections. */
  constructor(
    server: Server,
    limits: ConnectionLimits,
    { now, onChange }: { now(): number; onChange?(open: number, closed?: ClosedFor): void },
    intake?: Intake,
  ) {
    this.#server = server;
    this.#limits = limits;
    this.#counts = new ConnectionCounts(limits);
    this.#intake = intake;
    intake?.onMakeRoom((address) => this.#makeRoom(address));
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
        connection.running.add(response);
        response.on("close", () => this.#release(connection, response));
      }
      const address = connection?.address ?? clientAddress(request.socket.remoteAddress);
      const isFull = (this.#intake ?? this.#counts).isFull(address);
      if (isFull && !RESERVED_PATHS.test(request.url ?? "")) refuse(busy(), request, response);
      else listener(request, response);
    };
  }

  /** Notes that a request was admitted with a key. Its connection is not closed to make room. */
  noteAdmitted(response: ServerResponse): void {
    this.#open.get(response.req.socket)?.admitted.add(response);
  }

  /**
   * Whether an error can be written to a connection. A client that waits for the response to an earlier request would
   * take the error for that response.
   */
  canRefuse(socket: Socket): boolean {
    const running = this.#open.get(socket)?.running ?? new Set();
    return running.values().every((response) => !response.req.complete && !response.headersSent);
  }

  /** Accepts no more connections, and returns when the running requests have ended or the time is over. */
  async drain(milliseconds: number): Promise<void> {
    this.#isClosing = true;
    const deadline = setTimeout(() => this.#server.closeAllConnections(), milliseconds);
    // A connection is kept alive after its last request, so unused ones are closed repeatedly.
    const unused = setInterval(() => {
      this.#server.closeIdleConnections();
      this.#closeSilent();
    }, 50);
    await once(this.#server.close(), "close");
    // Node does not count the connections of an intake.
    if (this.#open.size > 0) await new Promise<void>((done) => (this.#onEmpty = done));
    clearTimeout(deadline);
    clearInterval(unused);
  }

  /** Whether no more connections are accepted. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Closes connections on which nothing was ever sent. Node does not count them as idle. */
  #closeSilent(): void {
    for (const { socket } of this.#open.values()) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  #accept(socket: Socket): void {
    const address = clientAddress(socket.remoteAddress);
    if (!this.#intake) {
      if (this.#counts.needsRoom(address).ofAddress) this.#makeRoom(address);
      if (this.#counts.needsRoom(address).ofAll) this.#makeRoom();
      if (this.#counts.refuses(address)) {
        this.#onChange("too many");
        return void socket.destroy();
      }
    }
    const connection: Connection = {
      socket,
      address,
      running: new Set(),
      admitted: new Set(),
      read: 0,
      progressAt: this.#now(),
    };
    this.#open.set(socket, connection);
    this.#counts.add(address);
    socket.on("close", () => this.#forget(connection));
    this.#onChange();
  }

  #forget({ socket, address }: Connection): void {
    if (!this.#open.delete(socket)) return;
    this.#counts.remove(address);
    this.#onChange();
    if (this.#open.size === 0) this.#onEmpty?.();
  }

  #release(connection: Connection, response: ServerResponse): void {
    const { socket, running, admitted } = connection;
    running.delete(response);
    admitted.delete(response);
    if (running.size > 0 || !this.#open.delete(socket)) return;
    this.#open.set(socket, connection);
  }

  /**
   * Closes the connection, of one address or of all, that has waited longest for a request, or else for a client
   * without a key to send or read something. Returns false if none waits.
   */
  #makeRoom(address?: string): boolean {
    const own = () =>
      this.#open.values().filter((one) => address === undefined || one.address === address);
    const connection =
      own().find(({ running }) => running.size === 0) ?? own().find(isHeldByStranger);
    if (!connection) return false;
    this.#forget(connection);
    this.#onChange("too many");
    connection.socket.destroy();
    return true;
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

/** Whether a connection without an admitted request waits for its client: for the rest of a body, or for responses to be read. */
function isHeldByStranger({ socket, running, admitted }: Connection): boolean {
  if (admitted.size > 0) return false;
  return socket.writableLength > 0 || running.values().some(({ req }) => !req.complete);
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
