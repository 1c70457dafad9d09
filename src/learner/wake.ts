/** To sleep until somebody wakes you; a call that comes while awake is not lost. */
export class Wake {
  #called = false;
  #resolve: (() => void) | undefined;

  now(): void {
    this.#called = true;
    this.#resolve?.();
  }

  async within(milliseconds: number): Promise<void> {
    if (!this.#called) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        timer = setTimeout(resolve, Math.max(0, milliseconds));
        timer.unref();
      });
      clearTimeout(timer);
      this.#resolve = undefined;
    }
    this.#called = false;
  }
}
