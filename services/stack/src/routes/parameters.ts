// Query parameters with one definition for all routes: invalid and empty values are refused.

import { CATEGORIES, type Category, ROLE_FACTS, ROLE_LIST, type Role, SECTORS } from '@strata/detect';
import { givenText, type RequestContext, refuse } from '@strata/http';
import { nearestName } from '@strata/http/nearest-names';
import { z } from 'zod';
import type { StackApp } from '../context.ts';
import { asciiPart } from '../index/domain-queries.ts';
import { findProvider, type KnownProvider, nearestProviders } from '../index/provider-names.ts';
import { FORMS, microsecondsOf, WITHOUT_ZONE } from '../moments.ts';

/** An integer in decimal digits: `0x10`, `1e3`, blanks and an empty value are refused. */
export const Integer = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, { error: ({ input }) => `must be an integer, not ${givenText(input)}` })
    .transform(Number)
    .pipe(z.int().min(min).max(max));

export const Limit = Integer({ min: 1, max: 1_000 });
export const Offset = Integer({ min: 0, max: 10_000_000 });

/** One of a list of values, case-insensitive. */
export function Word<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z
    .string()
    .max(64)
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(words, { error: ({ input }) => unknownWord(String(input), words) }));
}

/** The same in a body, where a field may be missing. */
export const Choice = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, {
    error: ({ input }) => (typeof input === 'string' ? unknownWord(input.slice(0, 64), words) : undefined),
  });

/** The message for a text that is not among the words: the word that was probably meant, then all of them. */
export function unknownWord(text: string, words: readonly string[], rule = 'must be one of'): string {
  const descending = words.filter((word) => word.startsWith('-'));
  if (text.startsWith('-') && words.includes(text.slice(1)))
    return `${text.slice(1)} is ascending only; descending are ${descending.join(', ')}`;
  const near = nearestName(text, words);
  return `${near === undefined ? '' : `did you mean ${near}? It `}${rule} ${words.join(', ')}`;
}

/** Words separated by commas, case-insensitive; one string with a pattern in the OpenAPI description. */
export function WordList(words: readonly string[]) {
  const one = `\\s*(?:${words.join('|')})\\s*`;
  return z
    .string()
    .max(512)
    .regex(new RegExp(`^${one}(?:,${one})*$`, 'i'), {
      error: ({ input }) => {
        const wrong = splitList(String(input)).find((word) => !words.includes(word)) ?? '';
        return unknownWord(wrong, words, 'must be among, separated by commas:');
      },
    });
}

export const splitList = (list: string): string[] => list.split(',').map((word) => word.trim().toLowerCase());

export const CategoryParameter = Word(CATEGORIES);
export const RoleParameter = Word(ROLE_LIST);
export const SectorParameter = Word(SECTORS);

/** Refuses a role of another category. */
export function checkRole({
  category,
  role,
}: {
  readonly category?: Category | undefined;
  readonly role?: Role | undefined;
}) {
  const of = role && ROLE_FACTS[role].category;
  if (of !== undefined && category !== undefined && of !== category)
    refuseField('role', `${role} is a role of ${of}, not of ${category}`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters to refuse them
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Free text without control characters. */
export const Text = z
  .string()
  .max(256)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .refine((text) => !CONTROL.test(text), 'contains a control character');

/** More do not make a search of names more precise. */
const MAX_WORDS = 8;

/** Parts of a domain name, in Unicode or as A-labels: lower-case A-labels with one blank between them. */
export const NameWords = Text.transform((text) => text.trim().split(/\s+/).map(asciiPart).join(' ')).pipe(
  z
    .string()
    .regex(/^[a-z0-9._ -]+$/, 'contains a character that is invalid in domain names')
    .refine((text) => text.split(' ').length <= MAX_WORDS, `has more than ${MAX_WORDS} words`),
);

export const ProviderPath = z.object({
  provider: Text.describe('Id, name or alias of a provider, case-insensitive: `google-workspace`, `Google Workspace`.'),
});

/** The provider of a path, or a refusal with the three most similar names. */
export function providerOf(app: StackApp, text: string, context: RequestContext<'unknown_provider'>): KnownProvider {
  const provider = findProvider(text, app);
  return provider ?? context.refuse('unknown_provider', ...unknownProvider(app, 'provider', text));
}

/** The id of the provider that a query parameter names, or a refusal with the three most similar names. */
export function providerIn(app: Pick<StackApp, 'known' | 'rulebook'>, field: string, text: string): string {
  return findProvider(text, app)?.id ?? refuse('invalid_parameter', ...unknownProvider(app, field, text));
}

function unknownProvider(app: Pick<StackApp, 'rulebook'>, field: string, text: string) {
  const nearest = nearestProviders(text, app.rulebook);
  const detail = `No provider is called '${text.slice(0, 64)}'. Nearest: ${nearest.join(', ')}.`;
  return [detail, { errors: nearest.map((message) => ({ field, message })) }] as const;
}

/** A moment as written; `microsecondsOf` reads it. */
export const Time = z
  .string()
  .max(64)
  .superRefine((text, context) => {
    if (microsecondsOf(text, { now: 0 }) !== undefined) return;
    const message = WITHOUT_ZONE.test(text) ? `needs a zone: ${text.slice(0, 32)}Z` : `must be ${FORMS}`;
    context.addIssue({ code: 'custom', message });
  });

export const Since = Time.describe(`Only later ones: ${FORMS}.`);

/** Refuses a value that the schema of its parameter cannot judge. */
export function refuseField(field: string, message: string): never {
  return refuse('invalid_parameter', `Cannot use: ${field} (${message}).`, { errors: [{ field, message }] });
}
