import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EndlessGrammarError } from '@strata/engine';
import { Grammars } from './grammars.ts';

describe('grammars of gateways', () => {
  let nowMs = 0;
  const grammars = new Grammars(() => nowMs);
  const ends = async () => 'answer';
  const runsOn = async () => {
    throw new EndlessGrammarError();
  };

  it('are refused for ten minutes from one whose grammar ran on, and that grammar from anybody', async () => {
    await assert.rejects(grammars.guard('bad', 'root ::= x', runsOn), EndlessGrammarError);
    await assert.rejects(grammars.guard('bad', 'root ::= "a"', ends), { code: 'busy' });
    await assert.rejects(grammars.guard('good', 'root ::= x', ends), { code: 'grammar-unusable' });
    assert.equal(await grammars.guard('bad', undefined, ends), 'answer', 'what has none is served');
    assert.equal(await grammars.guard('good', 'root ::= "a"', ends), 'answer');
    nowMs = 599_999;
    await assert.rejects(grammars.guard('bad', 'root ::= "a"', ends), { code: 'busy' });
    nowMs = 600_000;
    assert.equal(await grammars.guard('bad', 'root ::= "a"', ends), 'answer');
  });

  it('that fail otherwise are nobody’s fault', async () => {
    await assert.rejects(grammars.guard('good', 'root ::= y', () => Promise.reject(new Error('no'))));
    assert.equal(await grammars.guard('good', 'root ::= y', ends), 'answer');
  });
});
