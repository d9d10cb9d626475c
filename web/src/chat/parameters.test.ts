import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NUMBER_PARAMETERS, parseParameter } from './parameters.ts';

const parse = (name: string, text: string) => {
  const parameter = NUMBER_PARAMETERS.find((one) => one.name === name) ?? assert.fail(name);
  const parsed = parseParameter(parameter, text);
  return parsed.kind === 'value' ? parsed.value : parsed.kind;
};

describe('a parameter', () => {
  for (const [name, text, outcome] of [
    ['temperature', '', 'none'],
    ['temperature', ' 0.7 ', 0.7],
    ['temperature', '0,7', 0.7],
    ['temperature', '.5', 0.5],
    ['temperature', '2', 2],
    ['temperature', '2.1', 'problem'],
    ['temperature', '-0.1', 'problem'],
    ['temperature', '1e0', 'problem'],
    ['temperature', 'NaN', 'problem'],
    ['temperature', 'warm', 'problem'],
    ['presencePenalty', '-2', -2],
    ['maxTokens', '1', 1],
    ['maxTokens', '0', 'problem'],
    ['maxTokens', '1.5', 'problem'],
    ['maxTokens', '1,000', 'problem'],
    ['seed', '2147483647', 2_147_483_647],
    ['seed', '2147483648', 'problem'],
  ] as const)
    it(`${name} of '${text}' is ${outcome}`, () => assert.equal(parse(name, text), outcome));
});
