// Bytes that a host holds for others, counted together: a bound for each channel alone would allow the sum of all.

export class ByteBudget {
  readonly #mostBytes: number;
  #heldBytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** False where more is held now than may be. */
  change(bytes: number): boolean {
    this.#heldBytes += bytes;
    return this.#heldBytes <= this.#mostBytes;
  }
}
