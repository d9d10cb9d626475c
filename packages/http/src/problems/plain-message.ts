// Messages for input that does not match a schema, where the schema has none of its own: the rule, and what was given.
import type { z } from 'zod';
import { suggestionFor } from '../nearest-names.ts';

/** Characters of a given text in a message. */
const MAX_GIVEN = 64;

/** What was given, short: a number, the beginning of a text in quotation marks, or a word for anything else. */
export function givenText(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty text' : JSON.stringify(shortened(value));
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

const shortened = (text: string) => (text.length > MAX_GIVEN ? `${text.slice(0, MAX_GIVEN)}…` : text).toWellFormed();

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be a time such as 2026-01-31T12:00:00Z',
  date: 'must be a date such as 2026-01-31',
  email: 'must be an e-mail address',
  url: 'must be an address such as https://example.com/',
};

/** For the option `error` of a parse: a message of the schema itself precedes it. */
export function plainMessage(issue: z.core.$ZodRawIssue): string {
  const { input } = issue;
  switch (issue.code) {
    case 'invalid_type':
      return input === undefined ? 'is required' : `must be ${typeName(issue.expected)}, not ${givenText(input)}`;
    case 'too_big':
      return bound(issue, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'too_small':
      return bound(issue, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'invalid_value':
      return choice(issue.values, input);
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'does not have the form that is described for it';
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}, not ${givenText(input)}`;
    case 'invalid_union':
      return unionMessage(issue);
    case 'unrecognized_keys':
      return `unknown field ${givenText(issue.keys[0])}`;
    case 'invalid_key':
      return issue.issues[0]?.message || 'cannot be used';
    default:
      return 'cannot be used';
  }
}

const typeName = (expected: string) => TYPES[expected] ?? expected;

/** Of a text or a list the length. */
function bound(
  { input, origin, exact }: { readonly input?: unknown; readonly origin: string; readonly exact?: boolean },
  comparison: string,
  limit: number | bigint,
): string {
  const unit = origin === 'string' ? 'characters' : origin === 'array' ? 'entries' : undefined;
  if (unit === undefined) return `must be ${comparison} ${limit}, not ${givenText(input)}`;
  if (comparison === 'at least' && limit === 1) return 'must not be empty';
  const length = typeof input === 'string' || Array.isArray(input) ? input.length : 0;
  return `must have ${exact ? 'exactly' : comparison} ${limit} ${unit}, not ${length}`;
}

function choice(values: readonly unknown[], input: unknown): string {
  const known = values.map(String);
  if (input === undefined) return `is required: ${known.join(', ')}`;
  if (known.length === 1) return `must be ${known[0]}, not ${givenText(input)}`;
  const text = typeof input === 'string' ? input.slice(0, MAX_GIVEN) : '';
  return `must not be ${givenText(input)}; ${suggestionFor(text, known)}`;
}

/** A union names its kinds where one field decides, and otherwise what each of its forms would be. */
function unionMessage({ input, ...issue }: Extract<z.core.$ZodRawIssue, { code: 'invalid_union' }>): string {
  const { discriminator } = issue;
  if (typeof discriminator === 'string') {
    const options = 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
    const given = typeof input === 'object' && input !== null ? Reflect.get(input, discriminator) : undefined;
    return choice(options, given);
  }
  const forms = (issue.errors ?? [])
    .flat()
    .flatMap((each) => (each.code === 'invalid_type' && each.path.length === 0 ? [typeName(each.expected)] : []));
  return forms.length === 0 ? 'cannot be used' : `must be ${[...new Set(forms)].join(' or ')}, not ${givenText(input)}`;
}
