// What is told of an answer in numbers: tokens, speed, time to the first one, and by whom.
import { tokensPerSecond } from '@strata/client';
import { formatDecimal, formatNumber } from '../../ui/formats.ts';
import type { Answer } from '../conversation/conversation.ts';
import { shortPeer } from '../machines/peer-name.ts';

/** What is unknown is said to be, or left out where nobody would miss it. */
export function figuresOf(answer: Answer): readonly string[] {
  const { model, state, tokens, reasoningTokens, firstTokenMs, writingMs, segments } = answer;
  const counted = tokens === null ? null : { completionTokens: tokens, reasoningTokens };
  // Of what was cut off the service may have counted more than came here.
  const speed = state === 'whole' ? tokensPerSecond(counted, writingMs) : null;
  return [
    model,
    tokens === null ? 'tokens unknown' : `${formatNumber(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`,
    ...(reasoningTokens ? [`${formatNumber(reasoningTokens)} of them reasoning`] : []),
    speed === null ? 'speed unknown' : `${formatNumber(Math.round(speed))} tokens/s`,
    ...(firstTokenMs === null ? [] : [`first after ${formatMs(firstTokenMs)}`]),
    ...(segments && segments.length > 0 ? [`by ${workersOf(segments)}`] : []),
  ];
}

const workersOf = (segments: NonNullable<Answer['segments']>) => {
  const names = [...new Set(segments.map(({ worker }) => shortPeer(worker)))];
  return `${names.length === 1 ? 'worker' : 'workers'} ${names.join(', then ')}`;
};

/** `820 ms`, `1.3 s`. */
export const formatMs = (ms: number) =>
  ms < 1_000 ? `${formatNumber(Math.round(ms))} ms` : `${formatDecimal(ms / 1_000)} s`;
