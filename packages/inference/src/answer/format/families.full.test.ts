// Outputs of real model families: `../shared/conformance/models`, with the templates in the folder STRATA_TEMPLATES.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { openedBy, outputFormat } from './output-format.ts';
import { OutputReader } from './output-reader.ts';

const FOLDER = path.join(import.meta.dirname, '../../../../../../shared/conformance/models');
const TEMPLATES = process.env.STRATA_TEMPLATES ?? '';
const skip = existsSync(FOLDER) && existsSync(TEMPLATES) ? false : 'there are no vectors or templates';
// biome-ignore lint/suspicious/noExplicitAny: cases have many forms
type Any = any;

function read({ template, tools = [], prompt_tail, thinking_open, origin }: Any, pieces: readonly string[]) {
  const file = path.join(TEMPLATES, template ?? '');
  const format = outputFormat(template && existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  // vLLM's `minimax_m2_append_think` is a choice of its operator; here the request chooses, with `reasoning_format`.
  const keepsReasoning = /append_reasoning_parser/.test(origin);
  const isOpen = thinking_open || keepsReasoning;
  const opening = prompt_tail ? openedBy(prompt_tail, format) : isOpen ? format.reasoning?.opens[0] : '';
  const toolOf = (given: Any) => (Array.isArray(given) ? { name: given[0], parameters: JSON.parse(given[2]) } : given);
  const callable = tools.map((tool: Any) => toolOf(tool.function));
  const reader = new OutputReader(format, callable, { opening, keepsReasoning });
  const found = { text: '', reasoning: '', calls: [] as { name: string; given: string }[] };
  for (const delta of [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()])
    if (delta.kind === 'call') found.calls[delta.at] = { name: delta.name, given: '' };
    else if (delta.kind === 'arguments') (found.calls[delta.at] as { given: string }).given += delta.text;
    else found[delta.kind] += delta.text;
  return found;
}

function isRight(found: ReturnType<typeof read>, expected: Any): boolean {
  const { expected_calls: calls, expected_min_calls: min, expected_content: text, expected_reasoning } = expected;
  if (calls === null) return true;
  const isCalled = ({ name, arguments: given, arguments_have: some = {} }: Any, at: number) => {
    const call = found.calls[at];
    const value = call && (given || Object.keys(some).length > 0) ? JSON.parse(call.given) : {};
    const hasSome = Object.entries(some).every(([key, each]) => isDeepStrictEqual(value[key], each));
    return call && (name ?? call.name) === call.name && hasSome && (!given || isDeepStrictEqual(value, given));
  };
  const isCount = min === undefined ? found.calls.length === (calls ?? []).length : found.calls.length >= min;
  const isText = text === undefined || (text ?? '') === found.text;
  const isReasoning = expected_reasoning === undefined || (expected_reasoning ?? '') === found.reasoning;
  return isCount && isText && isReasoning && (calls ?? []).every(isCalled);
}

describe('the output of real model families', { skip }, () => {
  for (const [file, floor] of Object.entries({ tool_cases: 0.98, reasoning_cases: 1 }))
    it(`is read as expected in ${floor} of ${file}, and always the same in pieces`, () => {
      const cases: Any[] = JSON.parse(readFileSync(path.join(FOLDER, `${file}.json`), 'utf8'));
      const wrong = cases.filter((each) => {
        const found = read(each, [each.raw_output]);
        for (const pieces of [each.raw_output.split(''), each.raw_output.match(/[\s\S]{1,7}/g) ?? []])
          assert.deepEqual(read(each, pieces), found, each.origin);
        return !isRight(found, each);
      });
      const share = 1 - wrong.length / cases.length;
      assert.ok(share >= floor, `${share}: ${wrong.map(({ origin }) => origin).join('\n')}`);
    });
});
