// Amounts in millionths of the operator's currency, as people write them.
import { formatNumber } from '../../ui/formats.ts';

export const formatMoney = (micros: number | null | undefined): string =>
  typeof micros === 'number' ? formatNumber(micros / 1_000_000) : formatNumber(micros);

/** Millionths of a decimal, as `25.50`; undefined for any other text. */
export function microsIn(text: string): number | undefined {
  const [, units, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text.trim()) ?? [];
  return units === undefined ? undefined : Number(units) * 1_000_000 + Number(fraction.padEnd(6, '0'));
}
