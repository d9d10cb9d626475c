// Which selectors a zone is asked for, and what wildcards and incorrect servers make of the answers.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { noRecords } from '../dns/message/answer.ts';
import { askKeys } from './key-questions.ts';

/** By selector: `''` is `_domainkey`, `.` a random name of the zone, `*` any other name. A status, or the key. */
type Answers = Readonly<Record<string, string>>;
const lookup = (text = 'nxdomain') =>
  /^(nxdomain|empty|servfail)$/.test(text)
    ? noRecords<never>(text as 'empty')
    : ({ status: 'found', records: [text], aliases: text.startsWith('->') ? [text] : [] } as const);

for (const [what, answers, count, expected] of casesOf<[string, Answers, number, Answers][]>('scan', 'selectors'))
  it(`of a zone with ${what}, ${count} selectors are asked`, async () => {
    const asked = new Set<string>();
    const askText = async (label: string) => {
      asked.add(label);
      return lookup(answers[label.replace(/\.?_domainkey/, '')] ?? answers['*']);
    };
    // The type of the records follows from the question.
    const ask = async (_: string, type: string) => lookup(answers[type] ?? answers['.']) as never;
    const labels = ['google', 's1', 's2', 'selector1'].map((selector) => `${selector}._domainkey`);
    const keys = await askKeys('example.com', labels, 'random', { ask, askText });
    const found = keys.flatMap(([label, { records }]) => records.map((text) => [label.split('.')[0], text]));
    assert.deepEqual([Object.fromEntries(found), asked.size], [expected, count]);
  });
