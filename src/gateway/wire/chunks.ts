/**
 * Bytes that arrive in chunks. A sender can make its chunks tiny, and each chunk needs about a hundred
 * bytes of memory in addition to its content, so after the first few, small chunks are copied into blocks.
 */
export class Chunks {
  #list: Buffer[] = [];
  #block: Buffer = NONE;
  /** Start of the bytes in the block that are not yet in the list, and their end. */
  #start = 0;
  #end = 0;
  #bytes = 0;

  /** Number of bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (chunk.length >= SMALL || this.#list.length < FEW) {
      this.#flush();
      this.#list.push(chunk);
      return;
    }
    if (this.#block.length - this.#end < chunk.length) {
      this.#flush();
      this.#block = Buffer.allocUnsafeSlow(BLOCK);
      this.#start = 0;
      this.#end = 0;
    }
    this.#end += chunk.copy(this.#block, this.#end);
  }

  /** Returns all bytes and begins anew. */
  take(): Buffer {
    this.#flush();
    const all = this.#list.length === 1 ? this.#list[0]! : Buffer.concat(this.#list, this.#bytes);
    this.#list = [];
    this.#block = NONE;
    this.#start = 0;
    this.#end = 0;
    this.#bytes = 0;
    return all;
  }

  #flush(): void {
    if (this.#end > this.#start) this.#list.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

const NONE = Buffer.alloc(0);
const FEW = 16;
const SMALL = 1024;
const BLOCK = 16_384;
