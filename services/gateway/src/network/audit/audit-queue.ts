// The queue of answers to audit: limited in number and in tokens; when it is full the oldest are dropped.
import { type ObservedAnswer, sizeOf } from './trust.ts';

export interface AuditQueueOptions {
  readonly maxAnswers: number;
  /** Tokens of prompts and answers; a single answer above the limit is dropped. */
  readonly maxTokens: number;
}

export class AuditQueue {
  readonly #options: AuditQueueOptions;
  readonly #answers: ObservedAnswer[] = [];
  #tokens = 0;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
  }

  /** Adds an answer; returns the answers that were dropped, possibly including itself. */
  push(answer: ObservedAnswer): readonly ObservedAnswer[] {
    const { maxAnswers, maxTokens } = this.#options;
    if (sizeOf(answer) > maxTokens) return [answer];
    this.#answers.push(answer);
    this.#tokens += sizeOf(answer);
    const dropped: ObservedAnswer[] = [];
    while (this.#answers.length > maxAnswers || this.#tokens > maxTokens) {
      const oldest = this.shift();
      if (oldest) dropped.push(oldest);
    }
    return dropped;
  }

  /** Removes the oldest answer. */
  shift(): ObservedAnswer | undefined {
    const answer = this.#answers.shift();
    if (answer) this.#tokens -= sizeOf(answer);
    return answer;
  }
}
