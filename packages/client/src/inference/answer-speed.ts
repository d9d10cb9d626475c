// How fast an answer comes, as its reader sees it; what is not known is null, never zero.
import type { AnswerEvent, AnswerUsage } from './inference-events.ts';

/** All in milliseconds. */
export interface PaceFigures {
  /** From the question to the first letter that can be seen; reasoning and blanks are none. */
  readonly firstTokenMs: number | null;
  /** From the first such piece to the last piece of text. */
  readonly writingMs: number | null;
  /** The longest time between two pieces of text. */
  readonly pauseMs: number | null;
}

/** Sees the events of one answer. `askedAt` and each `now` are of one clock that only goes forward. */
export class AnswerPace {
  readonly #askedAt: number;
  #firstAt: number | null = null;
  #lastAt = 0;
  #pauseMs: number | null = null;

  constructor(askedAt: number) {
    this.#askedAt = askedAt;
  }

  see(event: AnswerEvent, now: number): void {
    if (event.kind !== 'text') return;
    if (this.#firstAt !== null) this.#pauseMs = Math.max(this.#pauseMs ?? 0, now - this.#lastAt);
    else if (!/\S/.test(event.text)) return;
    this.#firstAt ??= now;
    this.#lastAt = now;
  }

  figures(): PaceFigures {
    const first = this.#firstAt;
    return {
      firstTokenMs: first === null ? null : first - this.#askedAt,
      writingMs: first === null ? null : this.#lastAt - first,
      pauseMs: this.#pauseMs,
    };
  }
}

/**
 * Tokens a second between the first visible one and the last, reasoning left out; null where too little is known: no
 * count, a single token, or all of them at the same moment.
 */
export function tokensPerSecond(
  usage: Pick<AnswerUsage, 'completionTokens' | 'reasoningTokens'> | null,
  writingMs: number | null,
): number | null {
  if (!usage || writingMs === null || writingMs <= 0) return null;
  const visible = usage.completionTokens - (usage.reasoningTokens ?? 0);
  return visible > 1 ? ((visible - 1) * 1_000) / writingMs : null;
}
