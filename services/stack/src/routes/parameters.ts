// Query parameters with one definition for all routes: invalid and empty values are refused.

import { CATEGORIES, SECTORS } from '@strata/detect';
import type { RequestContext } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../context.ts';
import { findProvider, type KnownProvider, nearestProviders } from '../index/provider-names.ts';

/** An integer in decimal digits: `0x10`, `1e3`, blanks and an empty value are refused. */
export const Integer = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be an integer')
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

export const Limit = Integer({ min: 1, max: 1_000 });
export const Offset = Integer({ min: 0, max: 10_000_000 });

/** One of a list of values, case-insensitive. */
export function Word<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z
    .string()
    .max(64, 'is too long')
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(words, `must be one of ${words.join(', ')}`));
}

export const CategoryParameter = Word(CATEGORIES);
export const SectorParameter = Word(SECTORS);

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters to refuse them
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Free text without control characters. */
export const Text = z
  .string()
  .max(256, 'is too long')
  .refine((text) => text.trim() !== '', 'must not be empty')
  .refine((text) => !CONTROL.test(text), 'contains a control character');

/** A part of a name as in the index: lower-case, with Unicode labels converted to A-labels if possible. */
export function asciiPart(text: string): string {
  const part = text.trim().toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a range
  if (/^[\u0000-\u007f]*$/.test(part)) return part;
  return URL.parse(`http://${part}`)?.hostname ?? part;
}

export const ProviderPath = z.object({
  provider: Text.describe('Id, name or alias of a provider, case-insensitive: `google-workspace`, `Google Workspace`.'),
});

/** The provider of a path, or a refusal with the three most similar names. */
export function providerOf(app: StackApp, text: string, context: RequestContext<'unknown_provider'>): KnownProvider {
  const provider = findProvider(text, app);
  if (provider) return provider;
  const nearest = nearestProviders(text, app.rulebook);
  const message = `No provider is called '${text.slice(0, 64)}'. Nearest: ${nearest.join(', ')}.`;
  return context.refuse('unknown_provider', message, {
    errors: nearest.map((name) => ({ field: 'provider', message: name })),
  });
}

/** Date, time, fraction of any length, and a zone (RFC 3339); a blank before the zone is an unencoded plus. */
const PATTERN = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?(Z|[+ -]\d{2}:\d{2})$/i;
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}(T[\d:.,]+)?$/i;

export const Since = z
  .string()
  .max(64, 'is too long')
  .superRefine((text, context) => {
    if (microsecondsOf(text) !== undefined) return;
    const message = WITHOUT_ZONE.test(text) ? 'needs a time and a zone' : 'must be an ISO 8601 time with a zone';
    context.addIssue({ code: 'custom', message: `${message}: 2026-01-31T12:00:00Z` });
  })
  .meta({ format: 'date-time', description: 'ISO 8601 with a zone; only events published after it.' });

/** Microseconds since the epoch; undefined for an invalid time (`2026-02-30`, which Date would read as March). */
export function microsecondsOf(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, date = '', time, fraction = '', zone = 'Z'] = match;
  const ms = Date.parse(`${date}T${time}${zone.toUpperCase().replace(' ', '+')}`);
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(ms) || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return undefined;
  return ms * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
