// Answers from the data of a stack service, which answers here with the examples of its description.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { casesOf, fakeService } from '../../../../tests/support/index.ts';
import { tinyEngine } from '../../../../tests/support/tiny-engine.ts';
import { type Harness, type Json, MODEL, startHarness } from '../test/harness.ts';
import { assertRefusal, chunksOf } from '../test/shared.ts';

const CHAT = '/v1/chat/completions';
const file = path.join(import.meta.dirname, '../../../stack/src/routes/examples.json');
const examples: Record<string, Json> = JSON.parse(readFileSync(file, 'utf8'));
const profile = examples['/stack/v1/domains/{domain}'];
profile.services[0].evidence[0].value = '[click](https://evil.example) <b>';
profile.sector = 'retail_ecommerce';

describe('answers from the data', () => {
  let stack: Awaited<ReturnType<typeof fakeService>>;
  let service: Harness;
  let asked: string[] = [];
  let status = 200;
  before(async () => {
    stack = await fakeService((request, response) => {
      assert.equal(request.headers['x-stack-key'], 'ssk_of-the-gateway');
      asked.push(`${request.method} ${request.url}`);
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      const isAt = (each: string) => new RegExp(`^${each.replace(/\{\w+\}/, '[^/]+')}$`).test(pathname);
      const at = Object.keys(examples).find(isAt);
      const body = status !== 200 || at === undefined || /nosuch/i.test(pathname) ? undefined : examples[at];
      const problem = { code: 'unknown_domain', title: 'Domain not analyzed', detail: 'It is not [analyzed](x).' };
      response.writeHead(body ? 200 : status === 200 ? 404 : status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? problem));
    });
    const settings = { STRATA_EXPLORER_URL: stack.base, STRATA_EXPLORER_KEY: 'ssk_of-the-gateway' };
    const engines = { [MODEL]: await tinyEngine() };
    service = await startHarness({ STRATA_MODEL: '', ...settings }, { engines });
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await stack?.[Symbol.asyncDispose]();
  });
  const ask = async (content: string, more: object = {}) => {
    asked = [];
    return service.post(CHAT, { model: MODEL, messages: [{ role: 'user', content }], max_tokens: 8, ...more });
  };
  const textOf = async (content: string) =>
    (await ask(content, { model: 'strata-data' })).body.choices[0].message.content;

  it('name their model, have no tokens, and link page and receipt; streamed or not', async () => {
    const question = `Which DNS provider does ${profile.domain} use?`;
    const { body, headers } = await ask(question);
    const expected = ['strata-data', 'fp_unknown_strata-data', 0];
    assert.deepEqual([body.model, body.system_fingerprint, body.usage.total_tokens], expected);
    const text: string = body.choices[0].message.content;
    const { receipt_id, ledger_receipt_id } = profile.provenance;
    const first =
      /^aldersurgery\.com is active, sector retail and e-commerce.*\n\n- dns: Cloudflare, high confidence, since 2026-/s;
    assert.match(text, first);
    assert.ok(text.includes(`[${profile.domain} in the explorer](${stack.base}/domain/${profile.domain})`));
    assert.ok(text.includes(`[receipt ${receipt_id}](${stack.base}/ledger/receipts/${ledger_receipt_id})`));
    assert.doesNotMatch(text, /email|(?<!\\)\[click|(?<!\\)<b>/);
    const receipt = (await service.get(`/v1/receipts/${headers.get('x-receipt-id')}`)).body;
    assert.partialDeepStrictEqual(receipt.model, { id: 'strata-data', sha256: null, verified: { level: 'pinned' } });
    assert.deepEqual([receipt.usage.completion_tokens, receipt.segments], [0, undefined]);
    const chunks = chunksOf(await ask(question, { stream: true }));
    assert.equal(chunks.map(({ choices }) => choices[0].delta.content ?? '').join(''), text);
  });

  it('ask only the routes of the tools, a few for each question', async () => {
    for (const [question, route] of casesOf<[string, string][]>('gateway', 'questions about data')) {
      await ask(question);
      assert.deepEqual(asked, [`GET /stack/v1/${route}`]);
    }
  });

  it('find a provider by its aliases, ask once for all choices, and count one request for each name', async () => {
    const question = 'Does aldersurgery.com use Cloudflare Pages?';
    const { body } = await ask(question, { n: 128 });
    assert.deepEqual([body.choices.length, asked.length], [128, 2]);
    assert.match(body.choices[127].message.content, /is active[^\n]*\n\n- dns: Cloudflare, high/);
    assert.match(
      await textOf('Does aldersurgery.com use Nosuch?'),
      /\n\nNone of its 2 detected services is Nosuch, which is not a provider that I know\.\n\nThe scan could not see its origin\./,
    );
    for (const [content, left] of [[question, '18'] as const, ['How many domains publish DMARC?', '19'] as const]) {
      const { key } = await service.running.gateway.keys.create({ tier: 'free' });
      const by = { authorization: `Bearer ${key}` };
      const chat = { model: 'strata-data', messages: [{ role: 'user', content }] };
      assert.equal((await service.post(CHAT, chat, by)).headers.get('x-ratelimit-remaining-requests'), left);
    }
  });

  it('say what they do not know, and what they can answer', async () => {
    const unknown = 'I do not know “nosuch.com”. It is not \\[analyzed\\](x).';
    assert.equal(await textOf('Which DNS provider does nosuch.com use?'), unknown);
    assert.match(await textOf('Who uses Nosuch?'), /^I do not know “Nosuch”/);
    for (const unclear of ['What is DMARC?', 'x'.repeat(5_000)])
      assert.match(await textOf(unclear), /- How many domains use Cloudflare\?/);
    status = 400;
    assert.match(await textOf('How many domains publish DMARC?'), /^I could not ask this/);
    status = 503;
    const { body, headers, ...refused } = await ask('How many domains use Cloudflare?');
    status = 200;
    assert.deepEqual([refused.status, body.error.code, headers.get('retry-after')], [503, 'overloaded', '10']);
  });

  it('leave other questions, and requests for tools and formats, to the model', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    for (const more of [{ tools }, { response_format: { type: 'json_object' } }, { logprobs: true }])
      assert.equal((await ask('How many domains use Cloudflare?', more)).body.model, MODEL);
    assert.equal((await ask('What is DMARC?')).body.model, MODEL);
    assertRefusal(await ask('', { model: 'strata-data', logprobs: true }), [400, 'unsupported_value', 'model']);
    const models = (await service.get('/v1/models')).body.data;
    assert.deepEqual([models[0].id, models[1].id, models.length], [MODEL, 'strata-data', 2]);
  });
});
