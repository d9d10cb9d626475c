import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { safeAddress } from '../../ui/safe-address.ts';
import { announcementOf, plainReason } from './markdown-bounds.ts';

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');

for (const [what, text, reason] of [
  ['100,000 nested quotes', `${'> '.repeat(100_000)}x`, /long/],
  ['nested quotes within the length limit', `${'>'.repeat(3_000)}x`, /deeply/],
  ['lists opened on one line', `${'- '.repeat(1_000)}x`, /deeply/],
  ['lists indented line by line', lines(200, (i) => `${' '.repeat(2 * i)}- a`), /deeply/],
  ['alternating numbers and quotes', `${'1. > '.repeat(20)}x`, /deeply/],
  ['emphasis marks to be paired', '*a_'.repeat(2_000), /complex/],
  ['a huge table', `|a|b|\n|-|-|\n${'|c|d|\n'.repeat(5_000)}`, /complex/],
  ['brackets', '['.repeat(20_000), /complex/],
] as const)
  it(`Markdown with ${what} is shown as plain text`, () => assert.match(plainReason(text) ?? '', reason));

for (const [what, text] of [
  ['nothing', ''],
  ['a long answer', 'Some words *with* `code` and [a link](https://example.com).\n\n'.repeat(900)],
  ['a table of a hundred rows', `|a|b|c|\n|-|-|-|\n${'|1|2|3|\n'.repeat(100)}`],
  ['a list of five levels', lines(5, (i) => `${' '.repeat(4 * i)}- a`)],
  ['code with many underscores', `\`\`\`c\n${'int some_long_name(void *a, void *b);\n\n'.repeat(400)}\`\`\``],
  ['a rule of stars', `${'*'.repeat(80)}\n`],
] as const)
  it(`Markdown with ${what} is rendered`, () => assert.equal(plainReason(text), null));

it('an announcement is the beginning of the answer as plain text, with its outcome', () => {
  const text = '# DMARC\n\n**It** [informs](https://example.com) receivers:\n\n```js\na\n```';
  assert.equal(announcementOf({ text, state: 'whole' }), 'Answer: DMARC It informs receivers: code: a code:');
  assert.equal(announcementOf({ text: 'Ha', state: 'stopped' }), 'Stopped answer: Ha');
  assert.equal(announcementOf({ text: '', state: 'broken' }), 'Interrupted answer without text.');
  const long = announcementOf({ text: 'word '.repeat(10_000), state: 'whole' });
  assert.ok(long.length < 1_000 && long.endsWith('full answer is in the conversation.'));
});

for (const url of ['https://example.com/a?b#c', 'http://example.com', 'mailto:a@example.com', 'HTTPS://EXAMPLE.COM'])
  it(`an untrusted link may lead to ${url}`, () => assert.equal(safeAddress(url), url));
for (const url of casesOf<string[]>('web', 'addresses that are no links'))
  it(`an untrusted link does not lead to ${JSON.stringify(url)}`, () => assert.equal(safeAddress(url), ''));
