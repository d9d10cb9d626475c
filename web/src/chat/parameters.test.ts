import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NUMBER_PARAMETERS, parseParameter } from './parameters.ts';

const parse = (name: string, text: string) => {
  const parameter = NUMBER_PARAMETERS.find((one) => one.name === name) ?? assert.fail(name);
  const parsed = parseParameter(parameter, text);
  return parsed.kind === 'value' ? parsed.value : parsed.kind;
};

describe('a parameter', () => {
  for (const [name, outcomes] of [
    ['temperature', { '': 'none', ' 0.7 ': 0.7, '0,7': 0.7, '.5': 0.5, 2: 2 }],
    ['presencePenalty', { '-2': -2 }],
    ['maxTokens', { 1: 1, 0: 'problem', 1.5: 'problem', '1,000': 'problem' }],
    ['seed', { 2147483647: 2_147_483_647, 2147483648: 'problem' }],
    ['temperature', { 2.1: 'problem', '-0.1': 'problem', '1e0': 'problem', NaN: 'problem', warm: 'problem' }],
  ] as const)
    for (const [text, outcome] of Object.entries(outcomes))
      it(`${name} of '${text}' is ${outcome}`, () => assert.equal(parse(name, text), outcome));
});
