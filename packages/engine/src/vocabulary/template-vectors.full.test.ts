// Templates of real models, rendered as Python's transformers renders them. The template files carry the licences of their
// models and are in no repository of ours: STRATA_TEMPLATES names a folder with them (as SOURCE.txt of the vectors says).
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { readChatRequest } from '@strata/inference';
import { strftime } from '../jinja/strftime.ts';
import { renderChat } from './chat-template.ts';

const VECTORS = new URL('../../../../../shared/conformance/models/template_cases.json', import.meta.url);
const folder = process.env.STRATA_TEMPLATES;
const skip = folder && existsSync(VECTORS) ? false : 'STRATA_TEMPLATES is not set, or the vectors are not here';

it('chat templates of 60 families are rendered as by transformers', { skip }, (t) => {
  const cases: Record<string, string & string[]>[] = JSON.parse(readFileSync(VECTORS, 'utf8'));
  const failed = cases.filter((each) => !isRendered(each)).map((each) => `${each.template} ${each.case}`);
  t.diagnostic(`${failed.length} of ${cases.length} fail: ${failed.join(', ')}`);
  assert.ok(failed.length <= cases.length * 0.02);
});

function isRendered({ template, kwargs, bos_token, eos_token, ...given }: Record<string, string & string[]>) {
  const source = readFileSync(join(folder ?? '', template ?? ''), 'utf8');
  const now = () => new Date(given.fixed_time ?? '2026-02-03T04:05:06Z');
  try {
    const { templateVariables, ...request } = readChatRequest({ model: 'm', chat_template_kwargs: kwargs, ...given });
    const options = { source, bos: bos_token ?? '', eos: eos_token ?? '', controls: [], now };
    const pieces = renderChat({ ...request, variables: templateVariables }, options);
    const text = pieces.map((piece) => piece.text).join('');
    const accepted = [...(given.expected === undefined ? [] : [given.expected]), ...(given.also_accepted ?? [])];
    return accepted.some((each) => each.replace(/\{\{NOW (.*?)\}\}/g, (_, format) => strftime(now(), format)) === text);
  } catch {
    return given.expected_error !== undefined;
  }
}
