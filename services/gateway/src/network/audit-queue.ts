// Answers that wait for their audit: bounded in number and in tokens, and when it is full the oldest give way.
import type { SeenAnswer } from './trust.ts';

export interface AuditQueueOptions {
  readonly mostAnswers: number;
  /** Of prompts and answers together; one answer that is larger alone does not get in. */
  readonly mostTokens: number;
}

export class AuditQueue {
  readonly #options: AuditQueueOptions;
  readonly #answers: SeenAnswer[] = [];
  #tokens = 0;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#answers.length;
  }

  /** How many were given up for it, itself included. */
  push(answer: SeenAnswer): number {
    const { mostAnswers, mostTokens } = this.#options;
    if (tokensOf(answer) > mostTokens) return 1;
    this.#answers.push(answer);
    this.#tokens += tokensOf(answer);
    let dropped = 0;
    while (this.#answers.length > mostAnswers || this.#tokens > mostTokens) {
      this.shift();
      dropped += 1;
    }
    return dropped;
  }

  /** The oldest. */
  shift(): SeenAnswer | undefined {
    const answer = this.#answers.shift();
    if (answer) this.#tokens -= tokensOf(answer);
    return answer;
  }
}

/** A byte of text counts like a token: both are kept. */
function tokensOf({ prompt, answer, text }: SeenAnswer): number {
  return prompt.length + answer.length + text.byteLength;
}
