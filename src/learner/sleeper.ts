/** Lets a loop sleep until it is woken or a time has passed. */
export class Sleeper {
  #isWoken = false;
  #resolve: (() => void) | undefined;

  /** Ends the current sleep or, if there is none, the next one at once. */
  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  async sleep(milliseconds: number): Promise<void> {
    if (!this.#isWoken) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        timer = setTimeout(resolve, Math.max(0, milliseconds));
        timer.unref();
      });
      clearTimeout(timer);
      this.#resolve = undefined;
    }
    this.#isWoken = false;
  }
}
