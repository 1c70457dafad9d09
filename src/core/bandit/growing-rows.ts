/** Rows of one width in one flat array that doubles when it is full. */
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
      throw new RangeError(`a row of ${row.length} numbers among rows of ${this.width}`);
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

  /** A copy of the rows there are. */
  slice(): Float64Array {
    return this.data.slice(0, this.length * this.width);
  }
}
