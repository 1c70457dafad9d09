/** Rows of equal width in a flat array, which doubles when it is full. */
export class GrowingRows {
  readonly width: number;
  data: Float64Array;
  length = 0;

  constructor(width: number) {
    this.width = width;
    this.data = new Float64Array(64 * width);
  }

  push(row: ArrayLike<number>): void {
    if (row.length !== this.width) {
      throw new RangeError(`the row has ${row.length} numbers, the other rows have ${this.width}`);
    }
    const at = this.length * this.width;
    if (at === this.data.length) {
      const grown = new Float64Array(2 * at);
      grown.set(this.data);
      this.data = grown;
    }
    this.data.set(row, at);
    this.length++;
  }

  row(i: number): Float64Array {
    return this.data.subarray(i * this.width, (i + 1) * this.width);
  }

  /** Copies the rows. */
  slice(): Float64Array {
    return this.data.slice(0, this.length * this.width);
  }
}
