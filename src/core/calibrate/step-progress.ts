/** How far a training is, told after each of its steps. */
export interface StepProgress {
  /** Steps done. */
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  readonly millisecondsLeft: number;
}
