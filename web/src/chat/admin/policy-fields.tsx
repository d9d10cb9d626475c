// The limits of a key or a team in a form and as text. Empty fields are no limits.
import type { TeamLimits } from '@strata/client';
import { Select } from '../../ui/controls/select.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Field, type useFields } from './form.tsx';
import { formatMoney, microsIn } from './money.ts';

export const NO_LIMITS = { models: '', tokens: '', spend: '', period: 'month', warning: '' };
type Fields = typeof NO_LIMITS;

const PERIODS = [
  ['day', 'Day'],
  ['month', 'Month'],
  ['total', 'Total'],
] as const;

export function LimitFields({ field }: { readonly field: ReturnType<typeof useFields<Fields>>['field'] }) {
  return (
    <>
      <Field label="Models, comma-separated (not checked)" {...field('models')} />
      <Field label="Tokens a day" inputMode="numeric" pattern="[0-9]{1,12}" {...field('tokens')} />
      <Field label="Spend limit" inputMode="decimal" placeholder="25.50" {...field('spend')} />
      <Select label="Spend period" all={null} options={PERIODS} {...field('period')} />
      <Field label="Warn at" inputMode="decimal" placeholder="20" {...field('warning')} />
    </>
  );
}

/** Throws an Error for a field that is not valid; the service validates the rest. */
export function limitsIn({ models, tokens, spend, period, warning }: Fields): TeamLimits {
  const micros = microsIn(spend);
  if (spend.trim() !== '' && !micros) throw new Error('The spend limit is an amount above 0, as 25.50.');
  const warningMicros = microsIn(warning);
  if (warning.trim() !== '' && !(micros && warningMicros))
    throw new Error('The warning is an amount above 0, as 20, of a spend limit.');
  const names = models.split(',').flatMap((name) => name.trim() || []);
  return {
    ...(names.length === 0 ? {} : { models: names }),
    ...(tokens.trim() === '' ? {} : { tokens_per_day: Number(tokens) }),
    ...(micros
      ? {
          spend_limit: {
            micros,
            // The options of the select.
            period: period as (typeof PERIODS)[number][0],
            ...(warningMicros ? { warning: warningMicros } : {}),
          },
        }
      : {}),
  };
}

export function limitsText({ models, tokens_per_day, spend_limit }: TeamLimits): string {
  const limits = [
    ...(models ? [models.join(', ')] : []),
    ...(tokens_per_day ? [`${formatNumber(tokens_per_day)} tokens a day`] : []),
    ...(spend_limit ? [`${formatMoney(spend_limit.micros)} per ${spend_limit.period}`] : []),
    ...(spend_limit?.warning ? [`warning at ${formatMoney(spend_limit.warning)}`] : []),
  ];
  return limits.join('; ') || '–';
}
