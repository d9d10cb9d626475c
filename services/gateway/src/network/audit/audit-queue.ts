// Answers that wait for their audit: bounded in number and in tokens, and when it is full the oldest give way.
import { type SeenAnswer, sizeOf } from './trust.ts';

export interface AuditQueueOptions {
  readonly maxAnswers: number;
  /** Of prompts and answers together; one answer that is larger alone does not get in. */
  readonly maxTokens: number;
}

export class AuditQueue {
  readonly #options: AuditQueueOptions;
  readonly #answers: SeenAnswer[] = [];
  #tokens = 0;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
  }

  /** Those that were given up for it, itself included. */
  push(answer: SeenAnswer): readonly SeenAnswer[] {
    const { maxAnswers, maxTokens } = this.#options;
    if (sizeOf(answer) > maxTokens) return [answer];
    this.#answers.push(answer);
    this.#tokens += sizeOf(answer);
    const dropped: SeenAnswer[] = [];
    while (this.#answers.length > maxAnswers || this.#tokens > maxTokens) {
      const oldest = this.shift();
      if (oldest) dropped.push(oldest);
    }
    return dropped;
  }

  /** The oldest. */
  shift(): SeenAnswer | undefined {
    const answer = this.#answers.shift();
    if (answer) this.#tokens -= sizeOf(answer);
    return answer;
  }
}
