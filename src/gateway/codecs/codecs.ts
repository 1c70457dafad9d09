import type { DialectName } from "../wire/dialect-names.ts";
import { chatCodec } from "./chat/codec.ts";
import type { Codec } from "./items/codec.ts";
import { messagesCodec } from "./messages/codec.ts";
import { responsesCodec } from "./responses/codec.ts";

export const CODECS: Readonly<Record<DialectName, Codec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
};
