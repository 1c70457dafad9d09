/** Progress of a training, reported after each step. */
export interface StepProgress {
  /** Steps done. */
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  readonly millisecondsLeft: number;
}
