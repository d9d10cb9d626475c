// Stored answers: read by their key alone, from any event on, and continued by the next start.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import type { Engine } from '@strata/engine';
import { createSimulatedEngine } from '@strata/testnet';
import { temporaryDirectory } from '../../../../../tests/support/index.ts';
import { startHarness } from '../../test/harness.ts';
import { assertRefusal } from '../../test/shared.ts';

it('a response in the background goes on after a restart as if there was none, and is encrypted at rest', async () => {
  await using directory = await temporaryDirectory();
  const engine = () => createSimulatedEngine({ slots: 4, tokensPerSecond: 100 }) as unknown as Engine;
  const settings = { STRATA_MODEL: '', STRATA_DATA: directory.path };
  const first = await startHarness(settings, { engines: { m: engine() }, shutdownMs: 0 });
  const body = { model: 'm', input: 'What is DMARC?', max_output_tokens: 60, background: true, stream: true };
  const response = await first.open('/v1/responses', body);
  const begun = new TextDecoder().decode((await response.body?.getReader().read())?.value);
  const id = /"id":"(resp_[^"]+)"/.exec(begun)?.[1] ?? assert.fail();
  await first[Symbol.asyncDispose]();
  for (const file of ['inference.db', 'inference.db-wal'])
    assert.ok(!readFileSync(path.join(directory.path, file), { flag: 'a+' }).includes(body.input));
  await using second = await startHarness(settings, { engines: { m: engine() } });
  const own = { authorization: `Bearer ${first.key}` };
  assertRefusal(await second.get(`/v1/responses/${id}`), [404, 'not_found', null]);
  const all = (await second.get(`/v1/responses/${id}?stream=true`, own)).text;
  assert.ok(all.startsWith(begun));
  const rest = await second.get(`/v1/responses/${id}?stream=true&starting_after=9`, own);
  assert.ok(all.endsWith(`\n\n${rest.text}`) && rest.text.startsWith(`id: ${id}:10\n`));
  const { status, usage } = (await second.get(`/v1/responses/${id}`, own)).body;
  assert.deepEqual([status, usage.output_tokens], ['incomplete', 60]);
});
