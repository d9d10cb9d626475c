// `strata inference verify`, `keys usage` and `models pull`, as a user runs them.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Engine } from '@strata/engine';
import { tinyChatModel } from '@strata/testnet';
import { fakeService } from '../test/mcp-client.ts';
import { temporaryDirectory } from '../test/run-strata.ts';
import { inferenceEnds as ends, model, inference as strata, testGateway } from '../test/running-gateway.ts';

/** Asks the gateway with its key. */
async function gateway(at: string, body?: string): Promise<Response> {
  const { env, running } = await testGateway();
  const headers = { authorization: `Bearer ${env.STRATA_INFERENCE_KEY}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${running.port}${at}`;
  return fetch(url, body === undefined ? { headers } : { method: 'POST', headers, body });
}

/** Asks, and keeps what was sent and what came in files. */
async function asked(stream = false): Promise<{ id: string; request: string; answer: string }> {
  const messages = [{ role: 'user', content: 'What is SPF?' }];
  const body = JSON.stringify({ model, messages, stream, temperature: 0 });
  const response = await gateway('/v1/chat/completions', body);
  const { directory } = await testGateway();
  const request = path.join(directory, `request-${stream}.json`);
  const answer = path.join(directory, `answer-${stream}`);
  await writeFile(request, body);
  await writeFile(answer, await response.text());
  return { id: response.headers.get('x-receipt-id') ?? '', request, answer };
}

describe('the receipt of a completion', () => {
  it('holds, and is of this request and this answer, complete or streamed', async () => {
    for (const stream of [false, true]) {
      const { id, request, answer } = await asked(stream);
      const stdout = await strata(`verify ${id} --request ${request} --answer ${answer}`);
      for (const step of ['content', 'key', 'signature', 'leaf', 'inclusion', 'checkpoint', 'request', 'answer'])
        assert.match(stdout, new RegExp(`^ok +${step}`, 'm'));
    }
  });

  it('is not of another request or answer, and does not hold when it is altered', async () => {
    const { id, request, answer } = await asked();
    await writeFile(answer, (await readFile(answer, 'utf8')).replace('SPF', 'SPX'));
    const others = await ends(`verify ${id} --answer ${answer} --request ${request}`, 1, /^/);
    assert.match(others.stdout, /^FAILED answer/m);
    assert.match((await ends(`verify ${id} --request ${answer}`, 1, /^/)).stdout, /^FAILED request/m);
    const { directory, env } = await testGateway();
    const saved = path.join(directory, 'receipt.json');
    const receipt = await (await gateway(`/v1/receipts/${id}`)).text();
    await writeFile(saved, receipt);
    const { STRATA_INFERENCE_KEY: _key, ...open } = env;
    await strata(`verify ${saved}`, { env: open });
    await writeFile(saved, receipt.replace(/"completion_tokens":\d+/, '"completion_tokens":1'));
    assert.match((await ends(`verify ${saved}`, 1, /^/)).stdout, /^FAILED signature/m);
  });

  it('shows which workers of the network made it', async () => {
    const { running } = await testGateway();
    const [served = assert.fail('no model')] = running.gateway.models.list();
    const { engine } = served.backend as unknown as { readonly engine: Pick<Engine, 'generate'> };
    const generate = engine.generate.bind(engine);
    const part = { nonce: '0'.repeat(32), chainHead: '0'.repeat(64) };
    engine.generate = (job, signal, context) => {
      context?.onSegment?.({ ...part, worker: '12D3KooWFirst', from: 0, to: 3 });
      context?.onSegment?.({ ...part, worker: '\u001b[2J', from: 3, to: 5 });
      return generate(job, signal, context);
    };
    const { id } = await asked();
    engine.generate = generate;
    const stdout = await strata(`verify ${id}`);
    assert.match(stdout, /^- {6}worker {5}choice 0, tokens 0 to 3: 12D3KooWFirst, told by the gateway$/m);
    assert.doesNotMatch(stdout, /^ok +worker/m, 'nothing was checked');
    assert.ok(!stdout.includes('\u001b'), 'what is no peer id is not printed');
  });

  it('is not verified where something is missing', async () => {
    const { STRATA_INFERENCE_KEY: _key, ...without } = (await testGateway()).env;
    const none = `rwr_${'0'.repeat(26)}`;
    for (const [args, code, words, env] of [
      [none, 2, /whose receipt is it\?/, without],
      [none, 3, /404: This key has no such receipt/],
      [`${none} --key sk-wrong`, 3, /401: This API key is unknown/],
      ['rwr_0', 2, /'rwr_0' is no id of a receipt/],
      ['nowhere.json', 2, /nowhere\.json/],
      [`${none} --base nowhere`, 2, /--base is the URL of a gateway/],
      [(await asked()).answer, 2, /holds no receipt.*--answer/],
    ] as const)
      await ends(`verify ${args}`, code, words, env && { env });
  });

  it('stands beside what the key used', async () => {
    await asked();
    const table = await strata('keys usage');
    assert.match(table, /day +key +model +requests +prompt +cached +completion +label/);
    assert.match(table, /key_\w+ +strata-tiny-chat +\d+ +\d+ +\d+ +\d+ +mine/);
    const [row] = JSON.parse(await strata('keys usage --json --days 1'));
    assert.ok(row.requests >= 1 && row.completion_tokens > row.requests);
    await ends('keys usage --days 0', 2, /./);
    assert.match(await strata('keys usage key_none'), /nothing was used since/);
  });

  it('is signed by keys that can be changed while the gateway runs', async () => {
    const before = await asked();
    await strata('keys rotate-signing');
    await (await testGateway()).running.gateway.ledger.reload();
    for (const { id } of [before, await asked()]) await strata(`verify ${id}`);
    const { keys } = (await (await gateway('/.well-known/inference-keys.json')).json()) as {
      readonly keys: readonly { readonly status: string }[];
    };
    assert.equal(keys.map(({ status }) => status).join(), 'current,retired');
  });
});

describe('strata inference models pull', () => {
  it('downloads a model once, which is then listed, inspected and served from here', async () => {
    await using data = await temporaryDirectory();
    const file = await readFile(tinyChatModel);
    const list = JSON.stringify([{ type: 'file', path: 'tiny.gguf', size: file.length }]);
    const env = { STRATA_DATA: data.path };
    {
      await using hub = await fakeService((request, response) => {
        if (request.url === '/maker/tiny/resolve/main/tiny.gguf')
          response.writeHead(200, { 'content-length': file.length, etag: '"1"' }).end(file);
        else if (request.url?.startsWith('/api/models/maker/tiny/tree/main'))
          response.writeHead(200, { 'content-type': 'application/json' }).end(list);
        else response.writeHead(404).end();
      });
      const how = /downloaded; serve it: strata inference gateway --model hf:maker\/tiny/;
      const pulled = await ends('models pull hf:maker/tiny', 0, how, { env: { ...env, STRATA_HF_ENDPOINT: hub.base } });
      assert.match(pulled.stdout, /models\/maker\/tiny\/tiny\.gguf\n$/);
    }
    await ends('models pull hf:maker/tiny', 0, /was here already/, { env });
    assert.match(await strata('models list --local', { env }), /hf:maker\/tiny\S* .*complete/);
    const inspected = await strata('models inspect hf:maker/tiny --json', { env });
    assert.equal(JSON.parse(inspected).sizeBytes, file.length);
    await ends('models pull hf:../../etc/passwd', 2, /hf:/, { env });
    await ends('models pull maker/tiny', 2, /hf:|gguf/, { env });
  });
});
