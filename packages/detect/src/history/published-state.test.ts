import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from '../detect.ts';
import { evidenceFromRecord } from '../explain.ts';
import { compileRulebook } from '../rulebook/rulebook.ts';
import { publishedStateOf } from './published-state.ts';

describe('the published sector', () => {
  const rulebook = compileRulebook([]);
  const published = (
    html: string | undefined,
    before: { readonly sector: string; readonly summary: string | null },
  ) => {
    const evidence = evidenceFromRecord({ domain: 'example.com', a: [], ...(html === undefined ? {} : { html }) });
    const { sector, summary } = publishedStateOf(detect(evidence, rulebook), before);
    return [sector, JSON.parse(summary).sectorSource];
  };
  const hospital = '<body itemscope itemtype="https://schema.org/Hospital">';
  const health = { sector: 'health', summary: '{"sectorSource":"page"}' };

  it('is what the page says, and unknown once it says nothing', () => {
    assert.deepEqual(published(hospital, { sector: 'unknown', summary: null }), ['health', 'page']);
    assert.deepEqual(published('<p>', health), ['unknown', null]);
  });

  it('stays while the page that it was read from is unavailable', () => {
    assert.deepEqual(published(undefined, health), ['health', 'page']);
    assert.deepEqual(published(undefined, { ...health, summary: '{"sectorSource":"list"}' }), ['unknown', null]);
  });
});
