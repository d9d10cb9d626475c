// Sentences and what they ask about, as `topic; names; category`. `?`: only for a reader who asks the data.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { intentOf, MAX_QUESTION } from './intent.ts';

const briefly = (text: string, earlier?: string): string | undefined => {
  const intent = intentOf(text, earlier);
  if (!intent) return undefined;
  const names = intent.subjects.map((each) => (each.isDomain ? `@${each.names}` : each.names.join('|')));
  return `${intent.topic}; ${names}; ${intent.category ?? ''}${intent.isComparison ? '; compare' : ''}${intent.isAboutData ? '' : ' ?'}`;
};

const CASES: readonly (readonly [string, string | undefined])[] = casesOf('questions', 'intents');

for (const [text, expected] of CASES)
  it(`the sentence “${text}” asks for ${expected ?? 'nothing'}`, () => assert.equal(briefly(text), expected));

it('a sentence refers to the name in the question before it', () =>
  assert.equal(briefly('And its DNS?', 'Who uses example.com?'), 'overview; @example.com; dns'));

it('a sentence is read in a time that its length bounds, whatever it contains', () => {
  const hostile = "a.|'|. |a-|mail |Cloudflare and |../|%2e%2e/|[x](http://y) |\0|\u202e|\ud800".split('|');
  for (const part of hostile) {
    const { subjects = [] } = intentOf(part.repeat(MAX_QUESTION).slice(0, MAX_QUESTION)) ?? {};
    assert.ok(subjects.length <= 3);
    for (const name of subjects.flatMap(({ names }) => names)) assert.match(name, /^[\p{L}\p{N}][^/%:\p{C}]*$/u);
    assert.equal(intentOf(part.repeat(MAX_QUESTION + 1)), undefined);
  }
});
