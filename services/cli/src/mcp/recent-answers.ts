// Recent answers as they were received, so that the receipt of an answer can be verified by its id.

const MAX_ANSWERS = 200;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The newest answers, by receipt id. The oldest are evicted. */
export class RecentAnswers {
  readonly #texts = new Map<string, string>();
  #characters = 0;

  add(receiptId: string, text: string): void {
    this.#remove(receiptId);
    this.#texts.set(receiptId, text);
    this.#characters += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_ANSWERS && this.#characters <= MAX_CHARACTERS) break;
      this.#remove(oldest);
    }
  }

  get(receiptId: string): string | undefined {
    return this.#texts.get(receiptId);
  }

  #remove(receiptId: string): void {
    this.#characters -= this.#texts.get(receiptId)?.length ?? 0;
    this.#texts.delete(receiptId);
  }
}
