// A question of the service as a tool: which route it asks, what it takes, and how its answer is told in a few lines.
import type { StackPaths } from '@strata/client';
import { CATEGORIES } from '@strata/detect';
import { z } from 'zod';

/** How the list of an answer is paged: by the service, by its `limit` alone, or here, since it always comes whole. */
export type Paging = 'service' | 'limit' | 'here';

/** Routes that questions are asked of. */
export type QuestionPath = Extract<keyof StackPaths, `/stack/v1/${string}`>;

export interface Question<Path extends QuestionPath = QuestionPath> {
  readonly name: `stack_${string}`;
  readonly title: string;
  /** When to ask it, and what the fields mean. */
  readonly description: string;
  /** The route; its parameters are inputs of the same names. */
  readonly path: Path;
  readonly input: z.ZodObject;
  /** The lists that `limit` and `offset` are of, as paths into the answer. */
  readonly list?: { readonly at: readonly string[]; readonly paging: Paging };
  /** Fields that come only with the input `details`, by their paths. */
  readonly details?: readonly string[];
  /** Inputs that are of no route, but say how many items of a list by that name come: `{ evidence: 'evidence' }`. */
  readonly cuts?: Readonly<Record<string, string>>;
  /**
   * The answer in lines, of a body that was shortened. May throw where a service answers something else. A method, so
   * that questions of all paths fit in one list.
   */
  tell(answer: StackPaths[Path]['body']): readonly string[];
}

/** Gives the question back: for the types alone. */
export function question<Path extends QuestionPath>(each: Question<Path>): Question<Path> {
  return each;
}

/** The input that brings what `details` of a question names. */
export const details = {
  details: z.boolean().default(false).describe('Bring every field: long, and seldom needed.'),
};

/** Of any list; the service would give 1,000. */
export const MAX_AT_ONCE = 100;
/** The service gives no more of a list that has no offset. */
const MAX_OF_ROUTE = 1_000;

const limit = (byDefault: number) =>
  z.int().min(1).max(MAX_AT_ONCE).default(byDefault).describe('How many items at most; keep it small.');

/** `limit` and `offset` of a list that the service pages. */
export const pages = (byDefault = 10) => ({
  limit: limit(byDefault),
  offset: z.int().min(0).max(10_000_000).default(0).describe('Items to skip: next_offset of the answer before.'),
});

/** `limit` and `offset` of a list that the service gives from its beginning. */
export const firstPages = (byDefault = 10) => ({
  limit: limit(byDefault),
  offset: z
    .int()
    .min(0)
    .max(MAX_OF_ROUTE - MAX_AT_ONCE)
    .default(0)
    .describe('Items to skip: next_offset of the answer before.'),
});

export const Category = z.enum(CATEGORIES);
export const Severity = z.enum(['low', 'medium', 'high', 'critical']);

export const Domain = z
  .string()
  .trim()
  .min(1)
  .max(253)
  .describe('A domain such as example.com, or any host below it, in Unicode or as A-labels.');

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const PLAIN = /^[^\u0000-\u001f\u007f]*$/;

/** Names as people write them. */
export const Name = z.string().trim().min(1).max(256).regex(PLAIN, 'holds a control character');

export const Provider = Name.describe(
  'Id, name or alias of a provider, whatever the case: cloudflare, Google Workspace.',
);
