// The speed of an answer as its reader sees it. Unknown values are null, never zero.
import type { AnswerEvent, AnswerUsage } from './inference-events.ts';

export interface SpeedFigures {
  /** From the request to the first visible text; reasoning and white space are not visible. */
  readonly firstTokenMs: number | null;
  /** From the first visible text to the last text. */
  readonly writingMs: number | null;
  /** The longest time between two pieces of text. */
  readonly pauseMs: number | null;
}

/** Measures the events of one answer. `askedAt` and `now` are of the same monotonic clock. */
export class AnswerSpeed {
  readonly #askedAt: number;
  #firstAt: number | null = null;
  #lastAt = 0;
  #pauseMs: number | null = null;

  constructor(askedAt: number) {
    this.#askedAt = askedAt;
  }

  record(event: AnswerEvent, now: number): void {
    if (event.kind !== 'text') return;
    if (this.#firstAt !== null) this.#pauseMs = Math.max(this.#pauseMs ?? 0, now - this.#lastAt);
    else if (!/\S/.test(event.text)) return;
    this.#firstAt ??= now;
    this.#lastAt = now;
  }

  figures(): SpeedFigures {
    const first = this.#firstAt;
    return {
      firstTokenMs: first === null ? null : first - this.#askedAt,
      writingMs: first === null ? null : this.#lastAt - first,
      pauseMs: this.#pauseMs,
    };
  }
}

/**
 * Visible tokens per second, without reasoning, between the first and the last; null without a count, with a single token, or where all
 * tokens arrived at the same time.
 */
export function tokensPerSecond(
  usage: Pick<AnswerUsage, 'completionTokens' | 'reasoningTokens'> | null,
  writingMs: number | null,
): number | null {
  if (!usage || writingMs === null || writingMs <= 0) return null;
  const visible = usage.completionTokens - (usage.reasoningTokens ?? 0);
  return visible > 1 ? ((visible - 1) * 1_000) / writingMs : null;
}
