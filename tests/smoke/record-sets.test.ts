// Record sets as companies publish them, written by hand, with what an analyst would read out of them: all of it, and nothing else.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { detect, evidenceFromRecord, sentenceOf } from '@strata/detect';
import { rulebook } from '../support/rulebook.ts';
import { vectorsIn } from '../support/vectors.ts';

interface RecordSet {
  readonly name: string;
  readonly why: string;
  readonly record: { readonly domain: string };
  /** `category provider confidence`, in order of the alphabet. */
  readonly services: readonly string[];
}

const sets = vectorsIn<RecordSet[]>('record-sets.json');

it('fifty record sets and more are there, each with a reason', () => {
  assert.ok(sets.length >= 50, `${sets.length}`);
  assert.equal(new Set(sets.map(({ name }) => name)).size, sets.length);
  for (const { why } of sets) assert.ok(why.length > 10);
});

for (const { name, record, services: expected } of sets) {
  it(`a record set: ${name} (${record.domain})`, () => {
    const { services } = detect(evidenceFromRecord(record), rulebook);
    const lines = services.map(({ category, provider, confidence }) => `${category} ${provider} ${confidence}`);
    assert.deepEqual(lines.sort(), expected);
    for (const service of services) {
      assert.ok(service.evidence.length > 0);
      const provider = rulebook.providers.get(service.provider);
      assert.ok(provider, service.provider);
      for (const { rule, value } of service.evidence) {
        assert.ok(rule.startsWith(`${service.provider}/`), rule);
        assert.ok(JSON.stringify(record).toLowerCase().includes(lastWord(value, record.domain)), `${rule}: ${value}`);
      }
      assert.ok(sentenceOf(service, provider.name).startsWith(`${provider.name} `));
    }
  });
}

/** The shown evidence is a part of the records; networks and headers have text around them, paths their host. */
function lastWord(value: string, domain: string): string {
  const text = value.replace(`https://${domain}/`, '').replaceAll(/[()"\\]/g, '');
  return text.split(/\s+/).at(-1)?.toLowerCase() ?? '';
}
