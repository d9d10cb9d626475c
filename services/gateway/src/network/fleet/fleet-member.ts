// What the gateway knows about one worker for one model: its claims, within limits, and measurements, which take
// precedence.
import type { OfferedModel } from '@strata/inference';

/** Concurrent answers that are assumed without measurement, whatever a worker claims. */
const BELIEVED_SLOTS = 4;
const MAX_SLOTS = 256;
/** Higher claims are capped at these until measured: a fast accelerator with a small model. */
const MAX_PREFILL_PER_SECOND = 20_000;
const MAX_DECODE_PER_SECOND = 300;
/** With fewer tokens the measured time is dominated by other factors. */
const TOKENS_TO_MEASURE = 16;
/**
 * Weight of one answer in the measured speed. A single one is unreliable: a slow reader or a queue makes a worker
 * appear slow; tokens that were held back, by the worker or in transit, make it appear fast.
 */
const SHARE = 0.2;

const UNKNOWN_PREFILL_PER_SECOND = 100;
/** A job whose first token took longer than this plus twice its expected reading time waited for another job. */
const SOON_MS = 500;

export interface Served {
  readonly peer: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly firstTokenMs: number | undefined;
  /** Time from the first to the last token. */
  readonly decodeMs: number;
  /** Our answers, including this one, that the worker was writing when the first token of this one arrived. */
  readonly concurrentAnswers: number;
  /** Tokens that the worker generated; fewer than it has read if other workers generated the start of the answer. */
  readonly made: number;
  /** All tokens that are now in its cache: prompt and answer. */
  readonly tokens: readonly number[];
}

export interface FleetMember {
  readonly peer: string;
  readonly claim: OfferedModel;
  /** The maximum number of concurrent answers that it was observed to complete. */
  readonly concurrentAnswers: number;
  readonly measured: { readonly prefillTokensPerSecond: number; readonly decodeTokensPerSecond: number };
}

export function newMember(peer: string, claim: OfferedModel): FleetMember {
  return { peer, claim, concurrentAnswers: 0, measured: { prefillTokensPerSecond: 0, decodeTokensPerSecond: 0 } };
}

/** Its claimed slots, up to a limit, and at most one more than observed, so that the number grows with use. */
export function believedSlots({ claim, concurrentAnswers }: FleetMember): number {
  return Math.min(claim.slots, MAX_SLOTS, Math.max(BELIEVED_SLOTS, concurrentAnswers + 1));
}

/** Tokens per second; 0: unknown. */
export function believedSpeed({ claim, measured }: FleetMember): FleetMember['measured'] {
  return {
    prefillTokensPerSecond:
      measured.prefillTokensPerSecond || Math.min(claim.prefillTokensPerSecond, MAX_PREFILL_PER_SECOND),
    decodeTokensPerSecond:
      measured.decodeTokensPerSecond || Math.min(claim.decodeTokensPerSecond, MAX_DECODE_PER_SECOND),
  };
}

/** The observed concurrency only increases if the first token came as early as with a free slot. */
export function afterServed(member: FleetMember, served: Served, { rttMs }: { readonly rttMs: number }): FleetMember {
  const { prefillTokensPerSecond: prefill, decodeTokensPerSecond: decode } = believedSpeed(member);
  const { measured } = member;
  const read = served.promptTokens - served.cachedTokens;
  const readMs = (served.firstTokenMs ?? Number.POSITIVE_INFINITY) - rttMs;
  const hadSlot = readMs <= SOON_MS + (2_000 * read) / (prefill || UNKNOWN_PREFILL_PER_SECOND);
  return {
    ...member,
    concurrentAnswers: hadSlot
      ? Math.max(member.concurrentAnswers, served.concurrentAnswers)
      : member.concurrentAnswers,
    measured: {
      prefillTokensPerSecond: smoothed(measured.prefillTokensPerSecond, prefill, {
        ...{ tokens: read, ms: readMs, max: MAX_PREFILL_PER_SECOND },
      }),
      decodeTokensPerSecond: smoothed(measured.decodeTokensPerSecond, decode, {
        ...{ tokens: served.made - 1, ms: served.decodeMs, max: MAX_DECODE_PER_SECOND },
      }),
    },
  };
}

/** The first measurement replaces a higher claim; otherwise each measurement is averaged in. */
function smoothed(
  measured: number,
  believed: number,
  { tokens, ms, max }: { readonly tokens: number; readonly ms: number; readonly max: number },
): number {
  if (tokens < TOKENS_TO_MEASURE || !(ms > 0 && ms < Number.POSITIVE_INFINITY)) return measured;
  const now = Math.min(max, (tokens * 1_000) / ms);
  if (believed === 0 || (measured === 0 && now < believed)) return now;
  return believed + (now - believed) * SHARE;
}
