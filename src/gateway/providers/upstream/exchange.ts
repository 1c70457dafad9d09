import type { Dispatcher } from "undici";
import type { Clock } from "../../clock/clock.ts";
import { ByteQueue, type Flow } from "./byte-queue.ts";
import { type AnswerHeaders, refusal, UpstreamError } from "./error.ts";
import { errorBody } from "./error-body.ts";
import { PORTION, ReadQueue } from "./read-queue.ts";
import { tokensOfBytes } from "./text-tokens.ts";
import { type AnswerEnd, isTimedOut, type Translation, type UpstreamAnswer } from "./upstream.ts";
import { NO_USAGE } from "./usage.ts";

export interface Limits extends TimeLimits {
  readonly connectMs: number;
  readonly answerBytes: number;
  /** Size of one event of a stream, which is kept until it is complete. */
  readonly eventBytes: number;
}

interface ExchangeSettings {
  readonly name: string;
  readonly limits: Limits;
  readonly translate: (headers: AnswerHeaders) => Translation;
  readonly stream: boolean;
  /** Body of the request. */
  readonly sent: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/**
 * One request and its answer. It is the handler of undici's dispatcher, which calls it when
 * bytes arrive; each chunk goes through the translation to the reader in one step, without the
 * stream that undici's `request` would add.
 */
export class Exchange implements Dispatcher.DispatchHandler, Flow {
  readonly #settings: ExchangeSettings;
  readonly #answer = Promise.withResolvers<UpstreamAnswer>();
  readonly #end = Promise.withResolvers<AnswerEnd>();
  readonly #queue = new ByteQueue(this);
  readonly #watch: Watch;
  #controller: Dispatcher.DispatchController | undefined;
  #translation: Translation | undefined;
  #status = 0;
  #headers: AnswerHeaders = NO_HEADERS;
  /** Chunks of the body of an error response. */
  #refused: Buffer[] | undefined;
  #bytes = 0;
  /** Bytes that were read since the answer last waited in the read queue. */
  #portion = 0;
  /** The reader of the answer is slow. */
  #isFull = false;
  #isWaiting = false;
  #hasBegun = false;
  #isOver = false;

  constructor(settings: ExchangeSettings) {
    this.#settings = settings;
    this.#watch = new Watch(settings.limits, settings.stream, settings.clock, this);
    if (settings.signal.aborted) this.#onAbort();
    else settings.signal.addEventListener("abort", this.#onAbort);
  }

  get answer(): Promise<UpstreamAnswer> {
    return this.#answer.promise;
  }

  /** Ends the exchange with an error, before or during the answer. */
  fail(error: UpstreamError): void {
    if (this.#isOver) return;
    this.#finish(error);
    this.#controller?.abort(error);
  }

  /** Fails because a time limit has passed. The watch calls it. A slow reader is not the upstream's failure. */
  late(missing: string): void {
    this.fail(
      this.#isFull
        ? this.#error("cancelled", `could not send ${missing}, because the client reads slowly`)
        : this.#error("timeout", `did not send ${missing}`),
    );
  }

  // Methods of undici's handler.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error("given up before it was sent"));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200 || this.#isOver) return; // after 1xx another response follows
    this.#status = status;
    this.#headers = headers;
    if (status >= 300) return;
    try {
      const encoding = headers["content-encoding"];
      if (encoding !== undefined && encoding !== "identity") {
        throw this.#error("broken", `sent the encoding ${encoding}, which was not requested`);
      }
      this.#translation = this.#settings.translate(headers);
    } catch (error) {
      this.#failToRead(error);
    }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    this.#watch.sawByte();
    if (!this.#translation) this.#collectRefusal(chunk);
    else if (this.#bytes > this.#settings.limits.answerBytes) {
      const { answerBytes } = this.#settings.limits;
      this.fail(this.#error("too_large", `sent an answer of more than ${answerBytes} bytes`));
    } else {
      try {
        this.#translation.push(chunk, this.#pass);
      } catch (error) {
        this.#failToRead(error);
      }
      if (this.#translation.events > 0) this.#watch.sawAnswer();
      if (this.#translation.isDone) this.#watch.expectEnd();
      this.#portion += chunk.length;
      if (this.#portion >= PORTION) this.#waitForNextPortion();
    }
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (!this.#translation) {
      this.fail(this.#refusal());
      return;
    }
    try {
      this.#translation.end(this.#pass);
      this.#finish(undefined);
    } catch (error) {
      this.#failToRead(error);
    }
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error & { code?: string }): void {
    if (this.#isOver) return;
    if (this.#status >= 300) this.#finish(this.#refusal());
    else if (cause.code === "UND_ERR_CONNECT_TIMEOUT") {
      this.#finish(this.#error("timeout", "accepted no connection in time", cause));
    } else {
      const problem = this.#status ? "closed the connection too early" : "could not be reached";
      const why = cause.code ?? cause.message;
      this.#finish(this.#error("unreachable", `${problem} (${why})`, cause));
    }
  }

  // Methods of the queue's flow.

  pause(): void {
    this.#isFull = true;
    this.#watch.pause();
    this.#controller?.pause();
  }

  resume(): void {
    this.#isFull = false;
    this.#watch.resume();
    if (!this.#isWaiting) this.#controller?.resume();
  }

  stop(): void {
    this.fail(this.#error("cancelled", "was cancelled because the client disconnected"));
  }

  #waitForNextPortion(): void {
    this.#portion = 0;
    if (this.#isWaiting || this.#isOver) return;
    this.#isWaiting = true;
    this.#controller?.pause();
    READ_QUEUE.wait(this.#onNextPortion);
  }

  readonly #onNextPortion = (): void => {
    this.#isWaiting = false;
    if (!this.#isFull) this.#controller?.resume();
  };

  readonly #onAbort = (): void => {
    if (isTimedOut(this.#settings.signal)) this.late("a complete answer in time");
    else this.stop();
  };

  readonly #pass = (bytes: Uint8Array): void => {
    this.#queue.push(bytes);
    this.#begin();
  };

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#answer.resolve({
      headers: this.#headers,
      body: this.#queue,
      end: this.#end.promise,
      usage: () => this.#translation?.usage,
    });
  }

  #finish(fault: UpstreamError | undefined): void {
    // After [DONE] the answer is complete, even if the connection is reset.
    const error = this.#translation?.isDone ? undefined : fault;
    this.#isOver = true;
    if (this.#isWaiting) READ_QUEUE.leave(this.#onNextPortion);
    this.#watch.stop();
    this.#settings.signal.removeEventListener("abort", this.#onAbort);
    if (error && !this.#hasBegun) {
      const usage = this.#translation?.usage;
      const isUnknown = UNKNOWN_COST.has(error.code) || error.isAbandoned;
      error.isAbandoned = isUnknown && !usage && this.#controller !== undefined;
      const received = this.#translation ? this.#bytes : 0;
      const text = { ...NO_USAGE, completionTokens: tokensOfBytes(received) };
      error.lost = usage ? [usage] : error.isAbandoned && received > 0 ? [text] : [];
      this.#answer.reject(error);
      return;
    }
    this.#begin();
    this.#queue.close(error);
    this.#end.resolve({
      usage: this.#translation?.usage,
      events: this.#translation?.events ?? 0,
      tokens: this.#translation?.tokens,
      sentAt: this.#watch.startedAt,
      firstByteAt: this.#watch.firstByteAt,
      endedAt: this.#settings.clock.now(),
      members: this.#translation?.members,
      error,
    });
  }

  /** Fails because the translation has rejected the response. */
  #failToRead(error: unknown): void {
    this.fail(
      error instanceof UpstreamError
        ? error.concerns(this.#settings.sent)
        : this.#error("broken", `sent an unreadable response: ${error}`, error),
    );
  }

  #collectRefusal(chunk: Buffer): void {
    this.#refused ??= [];
    this.#refused.push(chunk);
    if (this.#bytes > MAX_REFUSAL_BYTES) this.fail(this.#refusal());
  }

  #refusal(): UpstreamError {
    const body = Buffer.concat(this.#refused ?? []).subarray(0, MAX_REFUSAL_BYTES);
    const { name, sent } = this.#settings;
    return refusal(name, this.#status, errorBody(body), this.#headers).concerns(sent);
  }

  #error(code: UpstreamError["code"], problem: string, cause?: unknown): UpstreamError {
    return new UpstreamError(code, this.#settings.name, problem, { cause });
  }
}

const NO_HEADERS: AnswerHeaders = {};

/** Faults that end a call before the upstream reports its usage. */
const UNKNOWN_COST: ReadonlySet<UpstreamError["code"]> = new Set(["cancelled", "too_large"]);

/** One queue for all answers of the process, because they share one event loop. */
const READ_QUEUE = new ReadQueue();

/** Size limit of the body of an error response. */
const MAX_REFUSAL_BYTES = 64 * 1024;

export interface TimeLimits {
  /** Time until an answer begins. By default a stream has a minute, a complete answer `totalMs`. */
  readonly firstByteMs?: number;
  /** Time between two chunks of an answer, except while the client is slow. */
  readonly idleMs: number;
  readonly totalMs: number;
}

const STREAM_BEGIN_MS = 60_000;
/** Time for the end of a response after a complete answer. A connection that ends in time can be used again. */
const END_MS = 500;

/**
 * Enforces the time limits of an answer. There is one timer, which checks the times of the chunks
 * and sets itself again, so that a chunk only costs reading the clock.
 */
export class Watch {
  readonly startedAt: number;
  /** Time of the first byte of the answer; NaN until it arrives. */
  firstByteAt = Number.NaN;
  readonly #limits: TimeLimits;
  readonly #stream: boolean;
  readonly #clock: Clock;
  readonly #owner: { late(missing: string): void };
  #lastByteAt = Number.NaN;
  #isPaused = false;
  #expectsEnd = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    limits: TimeLimits,
    stream: boolean,
    clock: Clock,
    owner: { late(missing: string): void },
  ) {
    this.#limits = limits;
    this.#stream = stream;
    this.#clock = clock;
    this.#owner = owner;
    this.startedAt = clock.now();
    this.#setTimer(this.startedAt);
  }

  sawByte(): void {
    this.#lastByteAt = this.#clock.now();
    if (!this.#stream) this.sawAnswer();
  }

  /** A part of the answer has arrived. Comments and pings of a stream are not part of it. */
  sawAnswer(): void {
    if (Number.isNaN(this.firstByteAt)) this.firstByteAt = this.#lastByteAt;
  }

  /** The upstream is paused because the client is slow. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#lastByteAt = this.#clock.now();
  }

  /** The answer is complete, and only the end of the response is missing. Comments do not prolong the wait for it. */
  expectEnd(): void {
    if (this.#expectsEnd) return;
    this.#expectsEnd = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#owner.late("the end of its response"), END_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #check = (): void => {
    const now = this.#clock.now();
    if (now >= this.#due()) this.#owner.late(this.#missing());
    else this.#setTimer(now);
  };

  /** Checks again within the shortest limit, which may apply by then. */
  #setTimer(now: number): void {
    const wait = Math.min(this.#due() - now, this.#limits.idleMs);
    this.#timer = setTimeout(this.#check, Math.max(1, wait));
  }

  /** Time by which the next chunk must arrive, or the whole answer if that is earlier. */
  #due(): number {
    return Math.min(this.#nextDue(), this.startedAt + this.#limits.totalMs);
  }

  /**
   * Time by which the next chunk must arrive. While the client is slow, only the whole answer has a limit. Unless
   * the operator limits the wait for an answer, an upstream that sends comments is taken to be working on it.
   */
  #nextDue(): number {
    if (this.#isAwaited()) return this.startedAt + this.#firstByteMs();
    return this.#isPaused ? Number.POSITIVE_INFINITY : this.#lastByteAt + this.#limits.idleMs;
  }

  #isAwaited(): boolean {
    const isSilent = Number.isNaN(this.#lastByteAt) || this.#limits.firstByteMs !== undefined;
    return isSilent && Number.isNaN(this.firstByteAt);
  }

  /** Limit of the time until the first byte. A complete answer arrives as late as the end of a stream. */
  #firstByteMs(): number {
    const { firstByteMs, totalMs } = this.#limits;
    return firstByteMs ?? (this.#stream ? STREAM_BEGIN_MS : totalMs);
  }

  /** Names the part of the answer that did not arrive in time. */
  #missing(): string {
    const { idleMs, totalMs } = this.#limits;
    if (this.#nextDue() >= this.startedAt + totalMs)
      return `a complete answer within ${totalMs} ms`;
    if (this.#isAwaited()) return `a first byte within ${this.#firstByteMs()} ms`;
    return `anything for ${idleMs} ms`;
  }
}
