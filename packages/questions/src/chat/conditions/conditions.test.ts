// Sentences and the conditions in them, as a query with names in place of ids: `category:Name`, further readings after `|`.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { MAX_QUESTION } from '../intent.ts';
import type { Condition } from './condition-reader.ts';
import { conditionsOf } from './conditions.ts';

function briefly(text: string, earlier?: string): string {
  const { all, unread, market, isSet } = conditionsOf(text, earlier);
  const textOf = ({ is, isNegated }: Condition) => {
    if (is.kind === 'term') return isNegated ? is.term.no : is.term.yes;
    const names = is.readings.map(({ name, category = '', version = '' }) => `${category}:${name}${version}`);
    return `${isNegated ? 'NOT ' : ''}${names.join('|')}`;
  };
  const joined = all.map((each, at) => `${at === 0 ? '' : each.isAlternative ? ' OR ' : ' AND '}${textOf(each)}`);
  const rest = unread.map((each) => `; “${each}”?`);
  return `${isSet ? '' : 'not a set: '}${market ? `${market} of ` : ''}${joined.join('')}${rest.join('')}`;
}

for (const [text, expected, earlier] of casesOf<readonly (readonly [string, string, string?])[]>('questions', 'sets'))
  it(`the sentence “${text}” has the conditions ${expected}`, () => assert.equal(briefly(text, earlier), expected));

it('the conditions of a long sentence are bounded', () => {
  const names = 'Cloudflare and '.repeat(40).slice(0, MAX_QUESTION);
  assert.match(
    briefly(`domains with ${names}`.slice(0, MAX_QUESTION)),
    /^(?:.{0,9}:Cloudflare){8}; “more than 8 conditions”\?$/,
  );
  assert.equal(briefly(`domains with ${names} x`.padEnd(MAX_QUESTION + 1)), 'not a set: ');
});
