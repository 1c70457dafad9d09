import { createParser } from "eventsource-parser";
import { type Sides, StreamTranslator, translateAnswer } from "../../codecs/translate.ts";
import type { Members } from "../../wire/json.ts";
import type { Pass, Translation } from "./upstream.ts";
import type { Usage } from "./usage.ts";

/** Translates an answer to the client's dialect after another translation has checked it. */
abstract class Translated implements Translation {
  protected readonly checked: Translation;

  constructor(checked: Translation) {
    this.checked = checked;
  }

  get usage(): Usage | undefined {
    return this.checked.usage;
  }
  get events(): number {
    return this.checked.events;
  }
  get isDone(): boolean {
    return this.checked.isDone;
  }
  /** The scanned members are the upstream's. */
  get members(): Members | undefined {
    return undefined;
  }

  abstract push(chunk: Buffer, pass: Pass): void;
  abstract end(pass: Pass): void;
}

export class TranslatedAnswer extends Translated {
  readonly #sides: Sides;

  constructor(checked: Translation, sides: Sides) {
    super(checked);
    this.#sides = sides;
  }

  push(chunk: Buffer, pass: Pass): void {
    this.checked.push(chunk, pass);
  }

  end(pass: Pass): void {
    this.checked.end((bytes) => {
      const body = JSON.parse(Buffer.from(bytes).toString());
      pass(Buffer.from(JSON.stringify(translateAnswer(body, this.#sides))));
    });
  }
}

export class TranslatedStream extends Translated {
  readonly #translator: StreamTranslator;
  readonly #decoder = new TextDecoder();
  /** Events for the client that were written and not passed on yet. */
  #out = "";
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      this.#out += this.#translator.push(data);
    },
  });

  constructor(checked: Translation, sides: Sides) {
    super(checked);
    this.#translator = new StreamTranslator(sides);
  }

  push(chunk: Buffer, pass: Pass): void {
    try {
      this.checked.push(chunk, this.#read);
    } finally {
      // If the check throws, the events before are passed on as well.
      this.#flush(pass);
    }
  }

  end(pass: Pass): void {
    this.checked.end(this.#read);
    this.#out += this.#translator.end();
    this.#flush(pass);
  }

  readonly #read = (bytes: Uint8Array): void => {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
  };

  #flush(pass: Pass): void {
    if (this.#out !== "") pass(Buffer.from(this.#out));
    this.#out = "";
  }
}
