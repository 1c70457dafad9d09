/**
 * A minimal WebAssembly assembler: the few instructions that the vector kernels of this folder
 * need, as functions that return bytes. Numbers are opcodes of the WebAssembly 2.0 specification.
 */
export type Code = readonly number[];

export const V128 = 0x7b;
export const I32 = 0x7f;

/** Unsigned LEB128, the variable-length encoding of sizes and indices. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** Signed LEB128, for constants. Only non-negative ones are needed. */
function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)];
}

const vector = (opcode: number) => [0xfd, ...unsigned(opcode)];

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)];
export const constant = (value: number): Code => [0x41, ...signed(value)];
export const add = (a: Code, b: Code): Code => [...a, ...b, 0x6a];
export const differs = (a: Code, b: Code): Code => [...a, ...b, 0x47];
export const loadI32 = (address: Code, offset = 0): Code => [
  ...address,
  ...[0x28, 2, ...unsigned(offset)],
];

/** Repeats `body` while `condition` holds at its end. */
export const loop = (body: readonly Code[], condition: Code): Code => [
  ...[0x03, 0x40],
  ...body.flat(),
  ...condition,
  ...[0x0d, 0],
  0x0b,
];

export const zeros: Code = [...vector(12), ...new Array<number>(16).fill(0)];
export const loadPair = (address: Code, offset = 0): Code => [
  ...address,
  ...vector(0),
  ...[3, ...unsigned(offset)],
];
/** Loads one number into both lanes. */
export const loadTwice = (address: Code): Code => [...address, ...vector(10), 3, 0];
export const storePair = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...value,
  ...vector(11),
  ...[3, ...unsigned(offset)],
];
/** Stores the sum of both lanes. */
export const storeSum = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...[...value, ...vector(33), 0],
  ...[...value, ...vector(33), 1],
  ...[0xa0, 0x39, 3, ...unsigned(offset)],
];
export const addPairs = (a: Code, b: Code): Code => [...a, ...b, ...vector(240)];
export const multiplyPairs = (a: Code, b: Code): Code => [...a, ...b, ...vector(242)];

export interface WasmFunction {
  readonly name: string;
  readonly parameters: readonly number[];
  /** Types of the locals after the parameters. */
  readonly locals: readonly number[];
  readonly body: readonly Code[];
}

/** Memory shared with the compiled functions. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB. Earlier views of the buffer are detached. */
  grow(pages: number): number;
}

/** The part of the global WebAssembly that is used here; Node's types do not declare it. */
interface WebAssemblyApi {
  readonly Memory: new (descriptor: { readonly initial: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { readonly env: { readonly memory: WasmMemory } },
  ) => { readonly exports: unknown };
}

const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi })
  .WebAssembly;

export function createMemory(bytes: number): WasmMemory {
  return new Memory({ initial: pagesFor(bytes) });
}

/** Pages of 64 KiB that hold so many bytes. */
export function pagesFor(bytes: number): number {
  return Math.ceil(bytes / 65_536);
}

/** Compiles functions without results that work on `memory`. */
export function assemble(
  functions: readonly WasmFunction[],
  memory: WasmMemory,
): Readonly<Record<string, (...args: number[]) => void>> {
  const bytes = [
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      functions.map(({ parameters }) => [0x60, ...list(parameters.map((type) => [type])), 0]),
    ),
    ...section(2, [[...text("env"), ...text("memory"), 2, 0, 0]]),
    ...section(
      3,
      functions.map((_, index) => unsigned(index)),
    ),
    ...section(
      7,
      functions.map(({ name }, index) => [...text(name), 0, ...unsigned(index)]),
    ),
    ...section(10, functions.map(bodyOf)),
  ];
  const module = new Module(Uint8Array.from(bytes));
  const { exports } = new Instance(module, { env: { memory } });
  return exports as Record<string, (...args: number[]) => void>;
}

function bodyOf({ locals, body }: WasmFunction): number[] {
  const code = [...list(locals.map((type) => [1, type])), ...body.flat(), 0x0b];
  return [...unsigned(code.length), ...code];
}

function section(id: number, entries: readonly (readonly number[])[]): number[] {
  const content = list(entries);
  return [id, ...unsigned(content.length), ...content];
}

function list(entries: readonly (readonly number[])[]): number[] {
  return [...unsigned(entries.length), ...entries.flat()];
}

function text(value: string): number[] {
  return list([...Buffer.from(value)].map((byte) => [byte]));
}
