import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Encoder } from "../../core/encoder/common/encoder.ts";
import { Random } from "../../core/random/random.ts";
import type { Clock } from "../clock/clock.ts";
import { SANDBOX } from "../config/references.ts";
import { textOf } from "../dialects/chat/prompt.ts";
import type { Capabilities } from "../providers/capabilities.ts";
import { OpenAiStream } from "../providers/openai/stream.ts";
import { translated } from "../providers/upstream/translated.ts";
import {
  DIALECT_OF,
  type Translation,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from "../providers/upstream/upstream.ts";
import { NO_USAGE, type Price, type Usage } from "../providers/upstream/usage.ts";
import { WholeAnswer } from "../providers/upstream/whole-answer.ts";
import { writtenRequest } from "../providers/upstream/written-request.ts";
import { isRecord } from "../wire/json.ts";
import { Classifier, readExamples } from "./classifier.ts";
import {
  completion,
  deliver,
  events,
  type Head,
  type Piece,
  translatedPieces,
} from "./completion.ts";
import { freeFormAnswer } from "./free-form.ts";
import { judgedVerdict } from "./judged.ts";
import { Profile, voiceOf } from "./profile.ts";
import { type Question, Questions } from "./questions.ts";
import { answerText, NOTE, type Reply, replyTo, tokensOf } from "./reply.ts";
import { embeddings, readChat, refused, type SandboxChat } from "./request.ts";

export interface SandboxSettings {
  /** The same seed gives the same answers. */
  readonly seed: number;
  /** Pace of the answers: 1 is the pace of real models, Infinity is immediate. */
  readonly speed: number;
  readonly clock: Clock;
}

export interface SandboxData {
  readonly profile: Profile;
  readonly questions: Questions;
  readonly classifier: Classifier;
  /** Encoder of /v1/embeddings and of the classifier. */
  readonly encoder: Encoder;
}

/** `folder` contains the project's data. */
export async function readSandbox(folder: string, encoder: Encoder): Promise<SandboxData> {
  const [profile, questions, examples] = await Promise.all([
    Profile.read(join(folder, "scores", "sandbox.csv")),
    Questions.read(join(folder, "queries.jsonl")),
    readExamples(join(folder, "free-form", "exemplars.jsonl")),
  ]);
  const classifier = await Classifier.learn([...questions.all, ...examples], encoder);
  return { profile, questions, classifier, encoder };
}

/**
 * Simulated models: an upstream inside this process that answers the project's own questions. An
 * answer is right with the probability that the profile gives for the model and the category. The
 * same prompt always gets the same answer.
 */
export class Sandbox implements Upstream {
  readonly name = SANDBOX;
  readonly profile: Profile;
  readonly #data: SandboxData;
  readonly #settings: SandboxSettings;
  readonly #random: Random;
  readonly #meanTokens = new Map<string, number>();

  constructor(data: SandboxData, settings: SandboxSettings) {
    this.profile = data.profile;
    this.#data = data;
    this.#settings = settings;
    this.#random = Random.seeded(settings.seed).split(SANDBOX);
  }

  get names(): readonly string[] {
    return this.profile.models;
  }

  /** Questions whose answers the sandbox knows. */
  get questions(): readonly Question[] {
    return this.#data.questions.all;
  }

  /**
   * One price for input and output tokens. For each category there is a price at which the texts of
   * the questions and answers cost as much as in the profile; this is the lowest of these prices. In
   * the other categories, reasoning tokens make up the difference.
   */
  price(model: string): Price {
    const { categories } = this.profile;
    const price = Math.min(
      ...categories.map(
        (category) => this.profile.cost(model, category) / this.#tokens(model, category),
      ),
    );
    return { input: 1e6 * price, output: 1e6 * price };
  }

  /** Tokens by which a model reasons, so that its price gives the profile's cost of the category. */
  #reasoning(model: string, category: string): number {
    const { input } = this.price(model);
    const all = (1e6 * this.profile.cost(model, category)) / input;
    return Math.round(Math.max(0, all - this.#tokens(model, category)));
  }

  /** Mean number of tokens in the texts of the project's questions and of the model's answers to them. */
  #tokens(model: string, category: string): number {
    const key = `${model} ${category}`;
    const known = this.#meanTokens.get(key);
    if (known !== undefined) return known;
    const own = this.#data.questions.all.filter((question) => question.category === category);
    const quality = this.profile.quality(model, category);
    const texts = own.map(({ query, answer, wrong }) => {
      const right = tokensOf(answerText(answer)).length;
      const others = meanOf(wrong.map((text) => tokensOf(answerText(text)).length));
      return tokensOf(query).length + quality * right + (1 - quality) * others;
    });
    const { openings, closings } = voiceOf(model);
    const style = [openings, closings, [NOTE]].map((any) =>
      meanOf(any.map((text) => tokensOf(text).length)),
    );
    const mean = meanOf(texts) + sum(style);
    this.#meanTokens.set(key, mean);
    return mean;
  }

  capabilities(model: string): Capabilities {
    return voiceOf(model).capabilities;
  }

  /** Answers in the client's dialect. The models speak chat completions; others are translated. */
  async call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    if ((DIALECT_OF[request.endpoint] ?? "chat") === "chat") return this.#call(request, signal);
    const now = () => Math.floor(this.#settings.clock.date() / 1000);
    const target = { name: SANDBOX, dialect: "chat", requestsUsage: true, now } as const;
    const { body, answer, adapted } = await translated(request, target, HERE);
    const { model, stream } = request;
    const chat = { endpoint: "chat/completions", body, model, stream } as const;
    const check = stream
      ? new OpenAiStream(SANDBOX, false, Infinity)
      : new WholeAnswer(SANDBOX, chat.endpoint);
    const answered = await this.#call(chat, signal, answer(check));
    return adapted.length > 0 ? { ...answered, adapted } : answered;
  }

  async #call(
    request: UpstreamRequest,
    signal: AbortSignal,
    translation?: Translation,
  ): Promise<UpstreamAnswer> {
    const { model, endpoint, body, stream } = request;
    const { clock } = this.#settings;
    if (!this.profile.models.includes(model)) {
      throw refused(404, `there is no model ${model} in the sandbox`, "model");
    }
    if (endpoint === "embeddings") {
      const { answer, tokens } = await embeddings(body, model, this.#data.encoder);
      const usage = { ...NO_USAGE, promptTokens: tokens };
      return deliver({ pieces: [whole(answer, 0)], stream: false, usage, signal, clock });
    }
    const chat = readChat(request);
    const random = this.#random.split(model).split(chat.text);
    const { replies, usage } = await this.#answer(chat, model, random);
    const head: Head = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(clock.date() / 1000),
      model,
      isChat: endpoint === "chat/completions",
    };
    const pieces = stream
      ? this.#paced(model, events(head, replies, chat.wantsUsage ? usage : undefined), random)
      : [
          whole(
            completion(head, replies, usage),
            this.#duration(model, usage.completionTokens - usage.reasoningTokens),
          ),
        ];
    const own = translation ? translatedPieces(pieces, translation) : pieces;
    return deliver({ pieces: own, stream, usage, signal, clock });
  }

  async #answer(chat: SandboxChat, model: string, random: Random) {
    const { questions, classifier } = this.#data;
    const verdict = judgedVerdict(chat.text, (text) => questions.find(text), random);
    if (verdict) {
      const replies: Reply[] = [{ content: verdict, finish: "stop" }];
      return { replies, usage: usageOf(chat, replies, 0) };
    }
    const question = questions.find(chat.text);
    const category = question?.category ?? (await classifier.classify(chat.text));
    const quality = this.profile.quality(model, category);
    const replies = Array.from({ length: chat.n }, (_, i) => {
      const own = random.split(i);
      const isRight = own.uniform() < quality;
      const answer = question
        ? answerTo(question, isRight, own)
        : freeFormAnswer(category, chat.text, isRight, own);
      return replyTo(chat, answer, voiceOf(model), own);
    });
    return { replies, usage: usageOf(chat, replies, this.#reasoning(model, category)) };
  }

  /** Milliseconds that the model takes for a number of tokens. */
  #duration(model: string, tokens: number): number {
    const { firstTokenMs, tokensPerSecond } = voiceOf(model);
    return (firstTokenMs + (1000 * tokens) / tokensPerSecond) / this.#settings.speed;
  }

  /** Adds random waits between the tokens. */
  *#paced(model: string, all: ReturnType<typeof events>, random: Random): Generator<Piece> {
    const pace = random.split("pace");
    const firstMs = this.#duration(model, 0);
    const tokenMs = this.#duration(model, 1) - firstMs;
    let waitMs = firstMs;
    for (const { event, tokens } of all) {
      yield { bytes: Buffer.from(event), waitMs: waitMs + 2 * tokens * tokenMs * pace.uniform() };
      waitMs = 0;
    }
  }
}

/** Counts tokens. Each reply has up to `reasoning` hidden tokens, within the limit of the request. */
function usageOf(chat: SandboxChat, replies: readonly Reply[], reasoning: number): Usage {
  const prompt = chat.messages.map((message) => tokensOf(contentOf(message)).length);
  const written = replies.map(({ content, call }) => tokensOf(call?.arguments ?? content).length);
  const hidden = written.map((tokens) => Math.max(0, Math.min(reasoning, chat.maxTokens - tokens)));
  return {
    ...NO_USAGE,
    promptTokens: sum(prompt),
    completionTokens: sum(written) + sum(hidden),
    reasoningTokens: sum(hidden),
  };
}

function whole(answer: object, waitMs: number): Piece {
  return { bytes: Buffer.from(JSON.stringify(answer)), waitMs };
}

function contentOf(message: unknown): string {
  return isRecord(message) ? textOf(message.content) : "";
}

function answerTo(question: Question, isRight: boolean, random: Random): string {
  const { answer, wrong } = question;
  return isRight ? answer : wrong[random.integer(wrong.length)]!;
}

function meanOf(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Translates in the thread of the sandbox itself, which also parses every request. */
const HERE = {
  translate: async (...args: Parameters<typeof writtenRequest>) => writtenRequest(...args),
};
