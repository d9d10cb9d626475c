// What a gateway knows of one worker for one model: what it says, believed within bounds, and what was measured, which is believed instead.
import type { OfferedModel } from '@strata/inference';
import type { Served } from './fleet.ts';

/** Answers side by side that are believed at once, whatever a worker claims. More must be seen. */
const BELIEVED_SLOTS = 4;
const MAX_SLOTS = 256;
/** Faster claims than these are taken for these until measured: a fast accelerator with a small model. */
const MAX_PREFILL_PER_SECOND = 20_000;
const MAX_DECODE_PER_SECOND = 300;
/** Fewer tokens say little of a speed: the time that they take is mostly something else's. */
const TOKENS_TO_MEASURE = 16;
/**
 * What one answer adds to a measured speed. It says little alone: a reader that takes its time, or a queue, makes a worker look slow; tokens
 * that were held back, by it or on the way, make it look fast.
 */
const SHARE = 0.2;

const UNKNOWN_PREFILL_PER_SECOND = 100;
/** A job that had to wait for another one's end waited longer than this, and than twice its reading. */
const SOON_MS = 500;

export interface FleetMember {
  readonly peer: string;
  readonly claim: OfferedModel;
  /** The most answers side by side that it has been seen to finish. */
  readonly sideBySide: number;
  readonly measured: { readonly prefillTokensPerSecond: number; readonly decodeTokensPerSecond: number };
}

export function newMember(peer: string, claim: OfferedModel): FleetMember {
  return { peer, claim, sideBySide: 0, measured: { prefillTokensPerSecond: 0, decodeTokensPerSecond: 0 } };
}

/** What it claims, up to a bound, and one more than it has been seen to do: so it grows while it is used. */
export function believedSlots({ claim, sideBySide }: FleetMember): number {
  return Math.min(claim.slots, MAX_SLOTS, Math.max(BELIEVED_SLOTS, sideBySide + 1));
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

/** More slots are believed where the first token came as soon as with a free one. */
export function afterServed(member: FleetMember, served: Served, { rttMs }: { readonly rttMs: number }): FleetMember {
  const { prefillTokensPerSecond: prefill, decodeTokensPerSecond: decode } = believedSpeed(member);
  const { measured } = member;
  const read = served.promptTokens - served.cachedTokens;
  const readMs = (served.firstTokenMs ?? Number.POSITIVE_INFINITY) - rttMs;
  const hadSlot = readMs <= SOON_MS + (2_000 * read) / (prefill || UNKNOWN_PREFILL_PER_SECOND);
  return {
    ...member,
    sideBySide: hadSlot ? Math.max(member.sideBySide, served.sideBySide) : member.sideBySide,
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

/** The first measurement replaces a claim that is higher, and adds to one that is lower as all later ones do. */
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
