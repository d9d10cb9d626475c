// Answers as they came, so that a receipt can be checked that an agent knows by its id alone.

const MAX_ANSWERS = 200;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The newest answers, by the id of their receipt; older ones are forgotten. */
export class KeptAnswers {
  readonly #texts = new Map<string, string>();
  #characters = 0;

  keep(receiptId: string, text: string): void {
    this.#forget(receiptId);
    this.#texts.set(receiptId, text);
    this.#characters += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_ANSWERS && this.#characters <= MAX_CHARACTERS) break;
      this.#forget(oldest);
    }
  }

  get(receiptId: string): string | undefined {
    return this.#texts.get(receiptId);
  }

  #forget(receiptId: string): void {
    this.#characters -= this.#texts.get(receiptId)?.length ?? 0;
    this.#texts.delete(receiptId);
  }
}
