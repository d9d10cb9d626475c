// The figures below an answer: tokens, speed, time to first token, and workers.
import { tokensPerSecond } from '@strata/client';
import { formatCount, formatDecimal, formatNumber, formatPeer, formatRounded } from '../../ui/formats.ts';
import { DATA_MODEL } from '../asking/data-model.ts';
import type { Answer } from '../conversation/conversation.ts';

/** An unknown token count or speed is shown as unknown; other unknown figures are omitted. */
export function figuresOf(answer: Answer): readonly string[] {
  if (answer.model === DATA_MODEL) return [DATA_MODEL, 'from the data, without a language model'];
  const { model, state, tokens, reasoningTokens, firstTokenMs, writingMs, segments } = answer;
  const counted = tokens === null ? null : { completionTokens: tokens, reasoningTokens };
  // For an interrupted answer, the service may have counted tokens that did not arrive here.
  const speed = state === 'whole' ? tokensPerSecond(counted, writingMs) : null;
  return [
    model,
    tokens === null ? 'token count unknown' : formatCount(tokens, 'token'),
    ...(reasoningTokens ? [`${formatNumber(reasoningTokens)} reasoning`] : []),
    speed === null ? 'speed unknown' : `${formatRounded(speed)} tokens/s`,
    ...(firstTokenMs === null ? [] : [`first token after ${formatMs(firstTokenMs)}`]),
    ...(segments && segments.length > 0 ? [`by ${workersOf(segments)}`] : []),
  ];
}

const workersOf = (segments: NonNullable<Answer['segments']>) => {
  const names = [...new Set(segments.map(({ worker }) => formatPeer(worker)))];
  return `${names.length === 1 ? 'worker' : 'workers'} ${names.join(', then ')}`;
};

/** `820 ms`, `1.3 s`. */
export const formatMs = (ms: number) => (ms < 1_000 ? `${formatRounded(ms)} ms` : `${formatDecimal(ms / 1_000)} s`);
