// A tool that calls one route of the service: its inputs, and a summary of the answer.
import type { StackPaths } from '@strata/client';
import { CATEGORIES, ROLE_LIST } from '@strata/detect';
import { z } from 'zod';

/** How a list is paged: by the route, or here, where the route always returns the complete list. */
type Paging = 'service' | 'here';

type QuestionPath = Extract<keyof StackPaths, `/stack/v1/${string}`>;

export interface Question<Path extends QuestionPath = QuestionPath> {
  readonly name: `stack_${string}`;
  readonly title: string;
  /** When to use the tool, and the meaning of the fields. */
  readonly description: string;
  /** The route; its parameters are inputs of the same names. */
  readonly path: Path;
  readonly input: z.ZodObject;
  /** The lists that `limit` applies to, as paths into the answer. */
  readonly list?: { readonly at: readonly string[]; readonly paging: Paging };
  /** Paths of fields that are returned only with the input `details`. */
  readonly details?: readonly string[];
  /** Inputs that are not parameters of the route, but limit the lists of a name: `{ evidence: 'evidence' }`. */
  readonly cuts?: Readonly<Record<string, string>>;
  /**
   * Lines for the shortened answer. May throw for an answer with other fields. A method, so that questions of all paths can be in one
   * list.
   */
  summarize(answer: StackPaths[Path]['body']): readonly string[];
}

/** Returns its argument; for type inference. */
export function question<Path extends QuestionPath>(each: Question<Path>): Question<Path> {
  return each;
}

/** The input that adds the fields of `Question.details`. */
export const details = {
  details: z.boolean().default(false).describe('Return every field. Long, and rarely needed.'),
};

/** Maximum `limit` of a tool; the service allows 1,000. */
export const MAX_LIMIT = 100;

const limit = (byDefault: number) =>
  z.int().min(1).max(MAX_LIMIT).default(byDefault).describe('Maximum number of items. Keep it small.');

const cursor = z.string().min(1).max(1_024).describe('next_cursor of the previous answer.').optional();
const offset = z.int().min(0).max(10_000_000).default(0);

/** The window of a list: at most `max` days. */
export const windowOf = (max: number, byDefault = '') => ({
  days: z.int().min(1).max(max).describe(`Number of UTC days, up to today${byDefault}.`).optional(),
  hours: z
    .int()
    .min(1)
    .max(max * 24)
    .describe('Number of hours, up to now; overrides days.')
    .optional(),
  since: Moment.optional(),
  until: Moment.optional(),
});

/** Inputs of a list that the route pages. */
export const cursorPages = (byDefault = 10) => ({ limit: limit(byDefault), cursor });

/** The same for a route that also has an offset. */
export const pages = (byDefault = 10) => ({
  ...cursorPages(byDefault),
  offset: offset.describe('Items to skip, without cursor.'),
});

/** Inputs of a list that is paged here. */
export const offsetPages = (byDefault = 10) => ({
  limit: limit(byDefault),
  offset: offset.describe('Items to skip: next_offset of the previous answer.'),
});

/** Forms of a time, as in the API. */
export const Moment = z.string().trim().min(1).max(64).describe('2026-01-31, 2026-01-31T12:00:00Z, 7d or 36h ago.');

export const Category = z.enum(CATEGORIES);
export const Role = z.enum(ROLE_LIST);
export const Severity = z.enum(['low', 'medium', 'high', 'critical']);

export const Domain = z
  .string()
  .trim()
  .min(1)
  .max(253)
  .describe('A domain such as example.com, or a host name below it, in Unicode or A-labels.');

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected
const PLAIN = /^[^\u0000-\u001f\u007f]*$/;

export const Name = z.string().trim().min(1).max(256).regex(PLAIN, 'must not contain a control character');

/** Described once, in the tool for searches: an agent reads the schemas of all tools. */
export const Query = z.string().trim().min(1).max(2_000).describe('As in stack_search.');

export const Provider = Name.describe(
  'Id, name or alias of a provider, case-insensitive: cloudflare, Google Workspace.',
);
