import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Encoder } from "../../encoder/encoder.ts";
import { Random } from "../../random/random.ts";
import type { Capabilities } from "../needs.ts";
import { textOf } from "../prompt.ts";
import type { Clock } from "../upstream/clock.ts";
import { isRecord } from "../upstream/json-value.ts";
import type { Upstream, UpstreamAnswer, UpstreamRequest } from "../upstream/upstream.ts";
import type { Price, Usage } from "../upstream/usage.ts";
import { type Asked, readAsked, refused, SANDBOX } from "./asked.ts";
import { completion, events, type Head } from "./completion.ts";
import { deliver, type Piece } from "./delivery.ts";
import { embeddings } from "./embeddings.ts";
import { freeFormAnswer } from "./free-form.ts";
import { Classifier, readExamples } from "./kinds.ts";
import { Profile } from "./profile.ts";
import { type Question, Questions } from "./questions.ts";
import { NOTE, type Reply, replyTo, tokensOf } from "./reply.ts";
import { voiceOf } from "./voices.ts";

export interface SandboxSettings {
  /** Equal seeds give equal answers. */
  readonly seed: number;
  /** 1: at the pace of real models; Infinity: at once. */
  readonly speed: number;
  readonly clock: Clock;
}

/** What the sandbox knows. */
export interface SandboxData {
  readonly profile: Profile;
  readonly questions: Questions;
  readonly classifier: Classifier;
  /** Gives the vectors of /v1/embeddings, and told the classifier of what kind a text is. */
  readonly encoder: Encoder;
}

/** `folder` is the project's folder of data. */
export async function readSandbox(folder: string, encoder: Encoder): Promise<SandboxData> {
  const [profile, questions, examples] = await Promise.all([
    Profile.read(join(folder, "scores", "routerbench.csv")),
    Questions.read(join(folder, "queries.jsonl")),
    readExamples(join(folder, "free-form", "exemplars.jsonl")),
  ]);
  const classifier = await Classifier.learn([...questions.all, ...examples], encoder);
  return { profile, questions, classifier, encoder };
}

/**
 * Ten models without a model: an upstream in this process that answers the
 * project's own questions, rightly with the probability that the paper's table
 * gives each model on each kind. Equal prompts have equal answers.
 */
export class Sandbox implements Upstream {
  readonly name = SANDBOX;
  readonly profile: Profile;
  readonly #data: SandboxData;
  readonly #settings: SandboxSettings;
  readonly #random: Random;

  constructor(data: SandboxData, settings: SandboxSettings) {
    this.profile = data.profile;
    this.#data = data;
    this.#settings = settings;
    this.#random = Random.seeded(settings.seed).split(SANDBOX);
  }

  /** The kind of a prompt, of which `profile` knows how good each model is on it. */
  async kindOf(text: string): Promise<string> {
    return this.#data.questions.find(text)?.category ?? this.#data.classifier.classify(text);
  }

  /** One price for input and output, at which the project's questions cost in the mean what the profile says. */
  price(model: string): Price {
    const { all } = this.#data.questions;
    const tokens = all.map(({ query, answer }) => tokensOf(`${query} ${answer} ${NOTE}`).length);
    const costs = all.map(({ category }) => this.profile.cost(model, category));
    const price = (1e6 * sum(costs)) / sum(tokens);
    return { input: price, output: price };
  }

  capabilities(model: string): Capabilities {
    return voiceOf(model).capabilities;
  }

  async call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { model, endpoint, stream } = request;
    if (!this.profile.models.includes(model)) {
      throw refused(404, `there is no model ${model} in the sandbox`, "model");
    }
    const { clock, speed } = this.#settings;
    const { questions, classifier, encoder } = this.#data;
    if (endpoint === "embeddings") {
      const { answer, tokens } = await embeddings(request.body, model, encoder);
      return this.#whole(answer, 0, usageOf(tokens, 0, undefined), signal);
    }
    const asked = readAsked(request);
    const voice = voiceOf(model);
    const random = this.#random.split(model).split(asked.text);
    const question = questions.find(asked.text);
    const kind = question?.category ?? (await classifier.classify(asked.text));
    const quality = this.profile.quality(model, kind);
    const replies = Array.from({ length: asked.n }, (_, i) => {
      const own = random.split(i);
      const isRight = own.uniform() < quality;
      const said = question
        ? answerTo(question, isRight, own)
        : freeFormAnswer(kind, asked.text, isRight, own);
      return replyTo(asked, said, voice, own);
    });
    const usage = this.#usage(asked, replies, this.profile.cost(model, kind), random);
    const head: Head = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(clock.date() / 1000),
      model,
      isChat: endpoint === "chat/completions",
    };
    const tokenMs = 1000 / voice.tokensPerSecond / speed;
    const firstMs = voice.firstTokenMs / speed;
    if (!stream) {
      const waitMs = firstMs + usage.completionTokens * tokenMs;
      return this.#whole(completion(head, replies, usage), waitMs, usage, signal);
    }
    const said = [...events(head, replies, asked.wantsUsage ? usage : undefined)];
    const pace = random.split("pace");
    const pieces = said.map(
      ({ event, tokens }, i): Piece => ({
        bytes: Buffer.from(event),
        // Some tokens come sooner and some later, as they do.
        waitMs: i === 0 ? firstMs : tokens * tokenMs * 2 * pace.uniform(),
      }),
    );
    const contentType = "text/event-stream; charset=utf-8";
    return deliver({ pieces, contentType, usage, events: said.length - 1, signal, clock });
  }

  /** Tokens of the texts; the cost is the profile's for an answer of this kind, a fifth more or less. */
  #usage(asked: Asked, replies: readonly Reply[], cost: number, random: Random): Usage {
    const prompt = asked.messages.map((message) => tokensOf(contentOf(message)).length);
    const said = replies.map(({ content, call }) => tokensOf(call?.arguments ?? content).length);
    const spread = 0.8 + 0.4 * random.split("cost").uniform();
    return usageOf(sum(prompt), sum(said), cost * replies.length * spread);
  }

  #whole(
    answer: object,
    waitMs: number,
    usage: Usage,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const pieces = [{ bytes: Buffer.from(JSON.stringify(answer)), waitMs }];
    const { clock } = this.#settings;
    return deliver({ pieces, contentType: "application/json", usage, events: 0, signal, clock });
  }
}

function contentOf(message: unknown): string {
  return isRecord(message) ? textOf(message.content) : "";
}

function answerTo(question: Question, isRight: boolean, random: Random): string {
  const { answer, wrong } = question;
  return isRight ? answer : wrong[random.integer(wrong.length)]!;
}

function usageOf(promptTokens: number, completionTokens: number, cost: number | undefined): Usage {
  const none = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return { promptTokens, completionTokens, ...none, cost };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
