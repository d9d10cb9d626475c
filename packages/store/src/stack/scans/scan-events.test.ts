import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRulebook, detect, evidenceFromRecord } from '@strata/detect';
import { publishedStateOf } from './scan-events.ts';

describe('the sector that is told', () => {
  const rulebook = compileRulebook([]);
  const told = (html: string | undefined, before: { readonly sector: string; readonly summary: string | null }) => {
    const evidence = evidenceFromRecord({ domain: 'example.com', a: [], ...(html === undefined ? {} : { html }) });
    const { sector, summary } = publishedStateOf(detect(evidence, rulebook), before);
    return [sector, JSON.parse(summary).sectorSource];
  };
  const hospital = '<body itemscope itemtype="https://schema.org/Hospital">';
  const health = { sector: 'health', summary: '{"sectorSource":"page"}' };

  it('is what the page says, and unknown once it says nothing', () => {
    assert.deepEqual(told(hospital, { sector: 'unknown', summary: null }), ['health', 'page']);
    assert.deepEqual(told('<p>', health), ['unknown', null]);
  });

  it('stays while the page that told it cannot be had', () => {
    assert.deepEqual(told(undefined, health), ['health', 'page']);
    assert.deepEqual(told(undefined, { ...health, summary: '{"sectorSource":"list"}' }), ['unknown', null]);
  });
});
